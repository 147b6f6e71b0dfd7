// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/shared_list.hpp"
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/correction.hpp"
#include "hardware/gpu/deep_gemm.hpp"
#include "hardware/gpu/expert_tiles.hpp"
#include "hardware/gpu/row_tiles.hpp"
#include "hardware/gpu/tuned_shapes.hpp"
#include "models/operator.hpp"

#include <optional>

namespace llmscape::hardware {

// Parameters of a dense GEMM in tiles: form (b) of the kernel model, fitted per device and software.
struct GemmParameters : Fit {
  double compute_efficiency = 0;  // share of the peak inside full tiles
  double memory_efficiency = 0;   // share of the memory bandwidth
  Seconds launch;                 // launch gap, prologue and epilogue inside a graph
  // What a tile costs beside its steps in K. Of a GEMM: writing the outputs of one of 128 x 128, and of others by their
  // area. Of experts, whose rows are gathered first: any.
  Seconds tile;
  BytesPerSecond cta_bandwidth;  // what one thread block can draw from memory
  double wave_quantisation = 0;  // 1: classic waves; 0: persistent kernels or stream-K
  BytesPerSecond l2_bandwidth;   // L2 to the multiprocessors
  Seconds split;                 // second pass of split-K
  // Rows of the shortest tile; short ones matter where the peak is low for the bandwidth. Each costs the energy of a
  // whole one, however few rows are asked for.
  std::int64_t least_tile_rows = 64;
  RowTiles row_tiles;                 // other than the fastest: without split-K
  std::optional<DeepGemm> deep_gemm;  // of products: in its tiles and no others
  // Of experts: those whose kernels are tuned, which the correction tells from others.
  SharedList<TunedShape> tuned;
  // Range of the fit: tokens, and the narrower side of the weights (wider ones run at the rate that is reached there).
  std::int64_t most_rows = 0, least_width = 0;
  std::optional<Correction> correction;  // of the form's times
};
// Of dense ones, and of routed experts.
const Fields<GemmParameters>& gemm_fields();
const Fields<GemmParameters>& expert_gemm_fields();

// The fastest over tile shapes and split-K degrees of
//   launch + (t_compute^4 + t_memory^4 + t_l2^4)^(1/4) + [split > 1] second pass.
// Outputs are written in 16 bits at least: what reads them next, a norm or an activation, narrows them.
KernelCost gemm_cost(const Chip&, const GemmParameters&, const models::Gemm&);

// The GEMMs of a routed layer, in tiles as `row_tiles` has them: thread blocks are counted over the touched experts,
// whose weights are read once. Rows that are not dealt out evenly leave the last tile of each expert half empty.
KernelCost grouped_gemm_cost(const Chip&, const GemmParameters&, const models::GroupedGemm&);
// `tiles` are those of the GEMM.
KernelCost grouped_gemm_cost(const Chip&, const GemmParameters&, const models::GroupedGemm&, const ExpertTiles& tiles);

}  // namespace llmscape::hardware
