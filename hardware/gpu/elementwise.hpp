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

// Quantisation by scales of tokens or tensors that are found first, whole: a stream, what each row adds to it, and what
// each begun pass over 2,048 columns of a row adds, where one block after the other walks its row.
struct ScaleParameters {
  Seconds launch;
  double efficiency = 0;
  Seconds row, pass;
};

// Those of one engine.
struct FittedScales : Fit {
  Seconds launch;
  double efficiency = 0;
  Seconds row, pass;
  [[nodiscard]] ScaleParameters parameters() const { return {launch, efficiency, row, pass}; }
};

// Norms, activations and the like are 2-8 % of a layer. Routers, permutes and copies inside memory have no row of their
// own and take the activation's; so does quantisation where it has none.
struct ElementwiseParameters : Fit {
  StreamParameters norm, activation, rope, embedding;
  std::optional<StreamParameters> quantise;  // of the inputs of GEMMs, by scales that are known
  // In place of that where scales are found first. Tables of GEMMs with narrow inputs hold it; checkpoints that engines
  // serve bring their scales along.
  std::optional<ScaleParameters> scales;
  std::optional<StreamParameters> add;  // absent: residual additions are part of the norms
  StreamParameters sampling;            // softmax, top-k and the draw; the 4-byte logits come from memory once
};
const Fields<FittedScales>& fitted_scales_fields();
const Fields<ElementwiseParameters>& elementwise_fields();

KernelCost elementwise_cost(const Chip&, const ElementwiseParameters&, const models::Elementwise&);
// Quantisation of rows of so many columns that reads and writes `bytes` and finds their scales.
KernelCost scales_cost(const Chip&, const ScaleParameters&, std::int64_t rows, std::int64_t columns, double bytes);
KernelCost copy_cost(const Chip&, const ElementwiseParameters&, const models::Copy&);
KernelCost sample_cost(const Chip&, const ElementwiseParameters&, const models::Sample&);

}  // namespace llmscape::hardware
