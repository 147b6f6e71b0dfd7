// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/cached_rows.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// What is known of a GPU's GEMMs before the fit, by its generation.
struct GemmPrior {
  double wave_quantisation = 0;       // held fixed: 1 on A100, 0 on Hopper and Blackwell
  BytesPerSecond l2_bandwidth;        // median: 4.7 TB/s on A100, 10 on Hopper, 15 on Blackwell
  std::int64_t least_tile_rows = 64;  // held fixed
  RowTiles row_tiles{};               // held fixed
  // Its tiles are held fixed, and what a missing row costs takes the place of the second pass of split-K.
  std::optional<DeepGemm> deep_gemm{};
};
// That one of the waves and shortest tiles that kernels have which explains the records best.
GemmPrior best_prior(const Chip& chip, const ElementwiseParameters& elementwise,
                     std::span<const traces::TimedGemm> records, const GemmPrior& prior);

// Where the form holds: GEMMs whose weights are narrower than 512 are ruled by kernel choice.
struct GemmRange {
  std::int64_t most_rows = 32768, least_width = 512;
};

// The records of one format inside the range.
std::vector<traces::TimedGemm> in_range(std::span<const traces::TimedGemm> records, std::string_view format,
                                        const GemmRange& range);

// Scales of weights are among their bytes. Throws std::invalid_argument for a format that is not known.
LeastWork least_work(const Chip& chip, const traces::TimedGemm& record);

struct GemmCalibration {
  GemmParameters parameters;  // tagged as fitted; `most_rows` and `least_width` as the records have them
  FamilyReport report;        // held out: folds that share no (n, k); times in s, bandwidths in B/s
};

// Fits the GEMMs' form to records of one format, which hold the quantisation of their inputs where these are narrower
// than 16 bits: `elementwise` prices it. `records` must not be empty, and name a known format.
// Of several priors that one counts which explains the records best; what is held fixed differs between them.
GemmCalibration fit_gemm(const Chip& chip, const ElementwiseParameters& elementwise,
                         std::span<const traces::TimedGemm> records, std::span<const GemmPrior> priors,
                         Scoring scoring = Scoring::held_out);
// `best`, and the tiles of kernels that are chosen by the rows of a product (CUTLASS in vLLM: 64 rows up to 64, 128 up
// to 128 or to 256, then 256 or pairs of 128: cutlass_w8a8), in waves or not.
std::vector<GemmPrior> product_tilings(const GemmPrior& best);

// Times that the parameters give for the records, in seconds.
std::vector<double> predict(const Chip& chip, const ElementwiseParameters& elementwise,
                            const GemmParameters& parameters, std::span<const traces::TimedGemm> records);

// What a record timed: the product, and the seconds that quantising its inputs takes. A library's product (of no
// engine) is handed inputs that are narrow already.
struct QuantisedGemm {
  models::Gemm gemm;
  double quantisation = 0;
};
QuantisedGemm product_of(const Chip& chip, const ElementwiseParameters& elementwise, const traces::TimedGemm& record);

}  // namespace llmscape::hardware
