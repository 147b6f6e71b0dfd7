// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "hardware/gpu/gpu.hpp"

namespace llmscape::hardware {

// What a part of a step costs one device.
struct PartCost {
  std::array<Seconds, kOperatorFamilies> by_family{};
  Flops flops, bf16_flops;
  Bytes bytes, link_bytes;

  void add(OperatorFamily family, const KernelCost& cost, int count);
  PartCost& operator+=(const PartCost& other);
};

// The operators one after another on the device timeline.
PartCost price(const Gpu& gpu, std::span<const models::Operator> operators);

}  // namespace llmscape::hardware
