// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "base/sourced.hpp"
#include "hardware/part_cost.hpp"
#include "models/model.hpp"

#include <cstdint>
#include <optional>

namespace llmscape::hardware {

// What the data sheet says of a GPU. Peaks are dense: half of the figures that count sparsity.
struct Chip {
  Sourced<FlopsPerSecond> peak_bf16;
  std::optional<Sourced<FlopsPerSecond>> peak_fp8, peak_int8, peak_fp4;
  Sourced<BytesPerSecond> hbm_bandwidth;
  Sourced<Bytes> hbm_capacity;  // as the driver reports it, before the runtime takes its share
  Sourced<std::int64_t> multiprocessors;
  Sourced<Bytes> l2;

  // Peak of a product of these operands. The wider operand decides (4-bit weights with 16-bit activations are widened
  // before the product); formats without units of their own run at the next wider peak; fp32 runs as TF32 at half of
  // bf16.
  [[nodiscard]] FlopsPerSecond peak(const models::Format& weights, const models::Format& activations) const;
};

}  // namespace llmscape::hardware
