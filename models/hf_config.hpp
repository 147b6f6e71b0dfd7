// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// The model that a Hugging Face config.json describes, read as it is published; keys that do not matter to any cost are
// passed over. The key `architectures` chooses the family. All mistakes are reported, each at its place, and then
// nothing is returned.
// `quantization`: that of hf_quant_config.json beside the file; nullptr: there is none.
std::optional<ModelSpec> read_hf_config(const YamlNode& root, std::string name, Diagnostics& diagnostics,
                                        const YamlNode* quantization = nullptr);

// The names that `architectures` may hold: "LlamaForCausalLM", ...
std::vector<std::string> hf_architectures();

}  // namespace llmscape::models
