// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace llmscape::hardware {

// Whether an engine's table of GEMMs holds kernels that look for the scale of a whole tensor before its inputs are
// quantised to this format. TensorRT-LLM's layer does where it was given no scale: its smallest products in fp8 take 12
// us on Hopper and on Blackwell, where those in bf16 take 2.5 and vLLM's in fp8, which look for a scale of each token
// in the kernel that quantises, 4.7 (gemm tables of ai-dynamo/aiconfigurator @ 095f58a).
bool looks_for_scales(std::string_view engine, std::string_view format);

struct ScalesCalibration {
  FittedStream parameters;
  FamilyReport report;  // errors of quantisation and scales together; held out: folds that share no shape
};

// What these kernels take, from rows of products too narrow for the GEMMs' form: what is left of them without a product
// as `gemm` prices it, and without quantisation by a known scale. `narrow` must not be empty.
ScalesCalibration fit_scales(const Chip& chip, const ElementwiseParameters& elementwise, const GemmParameters& gemm,
                             std::span<const traces::TimedGemm> narrow);

// What finding a scale of each token adds to quantisation, from records of both ("scales", "quantise") at the same
// shapes; nothing where there are fewer than 20 such shapes.
std::optional<ScalesCalibration> fit_scales(const Chip& chip, const ElementwiseParameters& elementwise,
                                            std::span<const traces::TimedElementwise> records);

}  // namespace llmscape::hardware
