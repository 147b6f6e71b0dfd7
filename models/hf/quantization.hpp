// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "models/hf/config_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// torch_dtype (or dtype) of `typed` and quantization_config of `quantised`, the file or its text model: what its
// weights are stored in. Routers, norms, embedding and head of quantised checkpoints stay in torch_dtype. The KV cache
// takes torch_dtype, unless a format for it is named. `unnamed_type` is the type of a file that names none; without it
// bfloat16 is taken, with a warning. `beside`: what hf_quant_config.json says, where that lies beside the file; else
// nullptr. `model`: its layers, which say what a list of modules that stay as they were comes to.
Precision precision_of(ConfigReader& typed, ConfigReader& quantised, const YamlNode* beside, const ModelSpec& model,
                       std::string_view unnamed_type);

}  // namespace llmscape::models::hf
