// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/kernel_record.hpp"

#include <string>
#include <string_view>

namespace llmscape::traces {

// A framework of AIConfigurator's tables as scenarios name the engine: "VLLM" is vllm, "TRTLLM" tensorrt_llm, "SGLang"
// sglang; empty: none of these.
std::string engine_of_framework(std::string_view framework);

// Why rows of this kernel are none of what the engine runs where nobody asks for it, or of a model class that the
// operator's form does not describe; empty: they count. `with_watts`: the row is read for its power, which some kernels
// tell that tell nothing of another's time.
std::string_view passed_over(std::string_view engine, std::string_view device, std::string_view operation,
                             std::string_view kernel, bool with_watts = false);

// Why rows of experts of two matrices are.
inline constexpr std::string_view kTwoMatrices = "experts of two matrices";

// Rows that ranks in expert parallelism copy and sum: TensorRT-LLM's CUTLASS and DeepGEMM layers those of experts that
// they hold. Triton's and Marlin's, and all of vLLM's, have a place for every routed row on each rank (tables of an
// H200, 1 to 128 ranks: a fit with the other rule has two to three times the error). trtllm-gen's layers of Blackwell
// that route tokens themselves (a scale for a block, or mxfp4) gather their own alone (rows of eight ranks and more
// with many tokens were predicted 30 to 58 % too slow).
PlacedRows placed_rows(std::string_view engine, std::string_view device, std::string_view kernel,
                       std::string_view format);

}  // namespace llmscape::traces
