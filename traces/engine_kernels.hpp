// SPDX-License-Identifier: Apache-2.0
#pragma once
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

// Whether ranks in expert parallelism copy and sum only rows of experts that they hold: TensorRT-LLM's CUTLASS and
// DeepGEMM layers. Triton's and Marlin's, and all of SGLang's and vLLM's, have a place for every routed row on each
// rank (tables of an H200, 1 to 128 ranks: a fit with the other rule has two to three times the error).
bool own_rows_alone(std::string_view engine, std::string_view kernel, std::string_view format);

}  // namespace llmscape::traces
