// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "models/operator.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// An expert layer in pieces, as step_work lists them: selection from the router's scores, permutation, gate and up,
// activation, down, and the weighted sum.
struct ExpertLayerWork {
  std::vector<models::Elementwise> streams;
  models::GroupedGemm up, down;
};
// Rows and distinct experts follow from the routing: under "balanced" all that the tokens can reach, "power_law_X" as
// the collector of AIConfigurator deals them (models/expert_loads.hpp), of the rank with the most. Throws
// std::invalid_argument for a format or routing that is not known.
ExpertLayerWork expert_layer_work(const traces::ExpertLayerCase& layer);

// The weights are all three matrices of the experts that the layer touches. Throws as expert_layer_work() does.
LeastWork least_work(const Chip& chip, const traces::ExpertLayerCase& layer);

// The same of grouped GEMMs by themselves, whose rows lie evenly on the experts. Throws std::invalid_argument for a
// format that is not known.
models::GroupedGemm grouped_gemm_work(const traces::GroupedGemmCase& gemm);

// Whose expert layers are fitted. In vLLM ranks without some experts pay for the rows of those as well: only layers
// with all experts on a rank say what its kernels cost. Other engines' ranks compute their own rows alone.
enum class Ranks : std::uint8_t { with_all_experts, any };

// The records of one format, dealt out evenly or by a power law, on such ranks that hold at least 128 columns of every
// expert. Models whose experts have two matrices (Nemotron 3) are left out: those of `two_matrices`, and those that ran
// faster than three of each expert can be read, as some tables do not say it.
std::vector<traces::TimedExpertLayer> gated_layers(const Chip& chip, std::span<const traces::TimedExpertLayer> records,
                                                   std::string_view format, Ranks ranks = Ranks::with_all_experts,
                                                   const std::set<std::array<std::int64_t, 4>>& two_matrices = {});

// Without the records whose kernels ran at another speed than tuned ones do: those that took more than 1.6 times the
// fastest record, the reads and FLOPs at the chip's peaks one after the other, and the streamed pieces together. Of 438
// layers of TensorRT-LLM in bf16 and fp8 on an H200, 376 take up to 1.6 times that sum (95 in 100 of them up to 1.3)
// and 62 take 1.6 to 7.5 times it (docs/calibration.md).
std::vector<traces::TimedExpertLayer> tuned_layers(const Chip& chip, const ElementwiseParameters& elementwise,
                                                   std::span<const traces::TimedExpertLayer> records);

struct ExpertCalibration {
  GemmParameters parameters;  // tagged as fitted; `most_rows` and `least_width` as the records have them
  FamilyReport report;        // held out: folds that share no model (hidden, width, experts, experts per token)
};

// Fits the grouped GEMMs to whole layers of one format; the streamed pieces are priced by `elementwise`. In 16 bits
// `compute_efficiency`, which layers do not identify beside the tiles' other costs, is that of plain GEMMs; absent, it
// is fitted too. `records` must not be empty.
// Of several priors that one counts which explains the records best; what is held fixed differs between them.
ExpertCalibration fit_experts(const Chip& chip, const ElementwiseParameters& elementwise,
                              std::optional<double> compute_efficiency, std::span<const GemmPrior> priors,
                              std::span<const traces::TimedExpertLayer> records, Scoring scoring = Scoring::held_out);
// The same from grouped GEMMs that were timed by themselves; held out: folds that share no (n, k).
ExpertCalibration fit_grouped_gemms(const Chip& chip, std::optional<double> compute_efficiency,
                                    std::span<const GemmPrior> priors,
                                    std::span<const traces::TimedGroupedGemm> records);
// The tiles that kernels of experts are known to have, in waves as `prior` has them, or in either kind.
std::vector<GemmPrior> tilings(const GemmPrior& prior, bool any_waves, bool flashinfer = false);

// Times that the parameters give for the records, in seconds.
std::vector<double> predict(const Chip& chip, const ElementwiseParameters& elementwise,
                            const GemmParameters& parameters, std::span<const traces::TimedExpertLayer> records);

}  // namespace llmscape::hardware
