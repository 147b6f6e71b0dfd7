// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

namespace llmscape::hardware {

// A kernel that streams its operands: launch + bytes / (efficiency x bandwidth).
struct StreamParameters {
  Seconds launch;
  double efficiency = 0;  // share of the memory bandwidth; above 1 while the operands stay in L2
};

// Norms, activations and the like are 2-8 % of a layer. Kinds without a row of their own take the nearest: router and quantise
// the activation's, permute and copies inside memory the addition's.
struct ElementwiseParameters : Fit {
  StreamParameters norm, activation, rope, add, embedding;
  StreamParameters sampling;  // softmax, top-k and the draw; the 4-byte logits come from memory once
};
const Fields<ElementwiseParameters>& elementwise_fields();

KernelCost elementwise_cost(const Chip&, const ElementwiseParameters&, const models::Elementwise&);
KernelCost copy_cost(const Chip&, const ElementwiseParameters&, const models::Copy&);
KernelCost sample_cost(const Chip&, const ElementwiseParameters&, const models::Sample&);

}  // namespace llmscape::hardware
