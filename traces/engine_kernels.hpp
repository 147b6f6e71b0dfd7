// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace llmscape::traces {

// A framework of AIConfigurator's tables as scenarios name the engine: "VLLM" is vllm, "TRTLLM" tensorrt_llm, "SGLang"
// sglang; empty: none of these.
std::string engine_of_framework(std::string_view framework);

// Why rows of this kernel are none of what the engine runs where nobody asks for it, or of a model class that the
// operator's form does not describe; empty: they count.
std::string_view passed_over(std::string_view engine, std::string_view device, std::string_view operation,
                             std::string_view kernel);

}  // namespace llmscape::traces
