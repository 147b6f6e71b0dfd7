// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "models/hf/config_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// torch_dtype (or dtype) of `typed` and quantization_config of `quantised`, the file or its text model: what the
// model's weights are stored in, into its precision and, where layers differ, its groups. Routers, norms, embedding and
// head of quantised checkpoints stay in torch_dtype. The KV cache takes torch_dtype, unless a format for it is named.
// `unnamed_type` is the type of a file that names none; without it bfloat16 is taken, with a warning. `beside`: what
// hf_quant_config.json says, where that lies beside the file; else nullptr.
void read_precision(ConfigReader& typed, ConfigReader& quantised, const YamlNode* beside, std::string_view unnamed_type,
                    ModelSpec& model);

}  // namespace llmscape::models::hf
