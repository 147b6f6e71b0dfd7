// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "hardware/harness/cpu_kernels/rows.hpp"

namespace llmscape::hardware::harness::cpu_kernels {

// Weights in the layout that oneDNN likes best.
class PackedProduct {
 public:
  virtual ~PackedProduct() = default;
  // As Linear::run(), without its padding.
  virtual void multiply(Rows<const float> x, Rows<float> y) const = 0;
};

// What the module with oneDNN does (base/module.hpp).
struct OneDnn {
  // As Linear's constructor.
  std::unique_ptr<PackedProduct> (*pack)(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights);
  std::string (*version)();
};

}  // namespace llmscape::hardware::harness::cpu_kernels
