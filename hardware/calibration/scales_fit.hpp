// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// The products in `format`, too narrow for the GEMMs' form, that tell what an engine's kernels take which find the
// scales of their inputs; none for engines whose tables hold no such kernels. No checkpoint with scales of its own runs
// them. TensorRT-LLM's smallest products in fp8 take 12 us on Hopper and on Blackwell, where those in bf16 take 2.5;
// vLLM's grow by 7 to 8 ns a row on H100, H200, B200 and GB200 however narrow they are (238 us for 32,768 rows, 64
// columns and a depth of 128, 5 in bf16), as one atomic after the other does, where neither SGLang's nor quantisation
// by known scales does (0.7 ns a row; tables of ai-dynamo/aiconfigurator @ 095f58a). vLLM's deep ones tell nothing:
// CUTLASS walks all of K in one block, which the 16-bit fit that prices the product does not.
std::vector<traces::TimedGemm> products_that_tell_scales(std::span<const traces::TimedGemm> all,
                                                         std::string_view engine, std::string_view format);

struct ScalesCalibration {
  FittedScales parameters;
  FamilyReport report;  // errors of quantisation and scales together; held out: folds that share no shape
};

// What these kernels take, from rows of products too narrow for the GEMMs' form: what is left of them without a product
// as `gemm` prices it, and without quantisation by a known scale. Such rows do not tell launches of the one from those
// of the other: where kernels that find scales were timed by themselves, `elementwise.scales` has their launch and
// efficiency, and the products tell what each row adds. `narrow` must not be empty.
ScalesCalibration fit_scales(const Chip& chip, const ElementwiseParameters& elementwise, const GemmParameters& gemm,
                             std::span<const traces::TimedGemm> narrow);

// What finding a scale of each token adds to quantisation, from records of both ("scales", "quantise") at the same
// shapes; nothing where there are fewer than 20 such shapes.
std::optional<ScalesCalibration> fit_scales(const Chip& chip, const ElementwiseParameters& elementwise,
                                            std::span<const traces::TimedElementwise> records);

}  // namespace llmscape::hardware
