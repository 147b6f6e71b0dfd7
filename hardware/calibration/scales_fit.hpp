// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// The products in `format`, too narrow for the GEMMs' form, that tell what an engine's kernels take which find the
// scales of their inputs; none for engines whose tables hold no such kernels. No checkpoint with scales of its own runs
// them (tables of ai-dynamo/aiconfigurator @ 095f58a). TensorRT-LLM's smallest products in fp8 take 12 us on Hopper and
// on Blackwell, where those in bf16 take 2.5. vLLM's take 7.3 ns a row up to 2,048 columns however narrow they are, and
// 4.5 to 5 ns more with each 2,048 that begin (32,768 rows, 32 outputs, H100: 238 us for a depth of 32, 238 to 266 for
// 2,048, 402 for 2,560, 417 for 4,096, 557 for 5,120, 1,320 for 16,384): a block for each row walks it in passes,
// unlike SGLang's and quantisation by known scales (0.7 ns a row). vLLM's deep ones of few rows tell nothing: CUTLASS
// walks all of K in one block, which the 16-bit fit that prices the product does not.
std::vector<traces::TimedGemm> products_that_tell_scales(std::span<const traces::TimedGemm> all,
                                                         std::string_view engine, std::string_view format);

struct ScalesCalibration {
  FittedScales parameters;
  FamilyReport report;  // errors of product and quantisation together; held out: folds that share no shape
};

// What these kernels take, from rows of products too narrow for the GEMMs' form: what is left of them without a product
// as `gemm` prices it. `narrow` must not be empty.
ScalesCalibration fit_scales(const Chip& chip, const GemmParameters& gemm, std::span<const traces::TimedGemm> narrow);

}  // namespace llmscape::hardware
