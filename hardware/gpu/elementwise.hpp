// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

#include <optional>

namespace llmscape::hardware {

// A kernel that streams its operands: launch + bytes / (efficiency x bandwidth).
struct StreamParameters {
  Seconds launch;
  double efficiency = 0;  // share of the memory bandwidth; above 1 while the operands stay in L2
};

// Norms, activations and the like are 2-8 % of a layer. Routers, permutes and copies inside memory have no row of their
// own and take the activation's; so does quantisation where it has none.
struct ElementwiseParameters : Fit {
  StreamParameters norm, activation, rope, embedding;
  std::optional<StreamParameters> quantise;  // of the inputs of GEMMs
  std::optional<StreamParameters> add;       // absent: residual additions are part of the norms
  StreamParameters sampling;                 // softmax, top-k and the draw; the 4-byte logits come from memory once
};
const Fields<ElementwiseParameters>& elementwise_fields();

KernelCost elementwise_cost(const Chip&, const ElementwiseParameters&, const models::Elementwise&);
KernelCost copy_cost(const Chip&, const ElementwiseParameters&, const models::Copy&);
KernelCost sample_cost(const Chip&, const ElementwiseParameters&, const models::Sample&);

}  // namespace llmscape::hardware
