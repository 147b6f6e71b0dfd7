// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "base/quantity.hpp"

namespace llmscape::hardware {

// Packages of DRAM side by side: LPDDR packages, or stacks of HBM.
struct Dram {
  std::string description;
  Sourced<std::int64_t> packages{1};
  Sourced<std::int64_t> width;       // data pins of a package
  Sourced<BytesPerSecond> pin_rate;  // of one of them
  Sourced<Bytes> package_capacity;
  Sourced<double> efficiency;     // share of the peak that streaming reaches
  Sourced<JoulesPerByte> energy;  // all of the way from the cells

  // What streaming reaches: packages x width x pin rate x efficiency.
  [[nodiscard]] BytesPerSecond bandwidth() const;
  [[nodiscard]] Bytes capacity() const;
  // The weakest of the figures that the bandwidth is made of.
  [[nodiscard]] Tag bandwidth_tag() const;
};
const Fields<Dram>& dram_fields();

}  // namespace llmscape::hardware
