// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

#include <cstdint>
#include <optional>

namespace llmscape::hardware {

// A kernel that streams its operands: launch + bytes / (efficiency x bandwidth).
struct StreamParameters {
  Seconds launch;
  double efficiency = 0;  // share of the memory bandwidth; above 1 while the operands stay in L2
};

// Kernels that find the scale of a token or a tensor: a stream, and what each row adds to it, however wide.
struct ScaleParameters {
  Seconds launch;
  double efficiency = 0;
  Seconds row;
};

// Those of one engine.
struct FittedScales : Fit {
  Seconds launch;
  double efficiency = 0;
  Seconds row;
  [[nodiscard]] ScaleParameters parameters() const { return {launch, efficiency, row}; }
};

// Norms, activations and the like are 2-8 % of a layer. Routers, permutes and copies inside memory have no row of their
// own and take the activation's; so does quantisation where it has none.
struct ElementwiseParameters : Fit {
  StreamParameters norm, activation, rope, embedding;
  std::optional<StreamParameters> quantise;  // of the inputs of GEMMs, by scales that are known
  // What finding the scale of a token or a tensor first adds to that. Tables of GEMMs with narrow inputs hold it;
  // checkpoints that engines serve bring their scales along.
  std::optional<ScaleParameters> scales;
  std::optional<StreamParameters> add;  // absent: residual additions are part of the norms
  StreamParameters sampling;            // softmax, top-k and the draw; the 4-byte logits come from memory once
};
const Fields<FittedScales>& fitted_scales_fields();
const Fields<ElementwiseParameters>& elementwise_fields();

KernelCost elementwise_cost(const Chip&, const ElementwiseParameters&, const models::Elementwise&);
// Finding scales of so many rows, whose quantisation reads and writes `bytes`; free where nothing is known of it.
KernelCost scales_cost(const Chip&, const ElementwiseParameters&, std::int64_t rows, double bytes);
KernelCost copy_cost(const Chip&, const ElementwiseParameters&, const models::Copy&);
KernelCost sample_cost(const Chip&, const ElementwiseParameters&, const models::Sample&);

}  // namespace llmscape::hardware
