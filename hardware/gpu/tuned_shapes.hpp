// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "models/operator.hpp"

#include <cstdint>
#include <span>

namespace llmscape::hardware {

// Experts of a rank for which an engine ships a configuration that was searched for on the device: its kernels of them
// are others than those of its defaults (Triton's fused experts in vLLM and SGLang: fused_moe/configs, "E=8,N=7168").
struct TunedShape {
  std::int64_t experts = 0;  // held by the rank
  std::int64_t width = 0;    // between the products of one expert, on the rank
  bool operator==(const TunedShape&) const = default;
};
const Fields<TunedShape>& tuned_shape_fields();

[[nodiscard]] bool is_tuned(std::span<const TunedShape> shapes, const models::GroupedGemm& experts);

}  // namespace llmscape::hardware
