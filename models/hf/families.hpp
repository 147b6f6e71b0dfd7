// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "models/hf/config_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// One entry of `architectures` in config.json and what reads the file. Readers give layers and widths; name, family and
// precision are filled by read_hf_config.
struct Architecture {
  std::string_view name, family;
  ModelSpec (*read)(ConfigReader&);
  std::string_view nested = {};        // key that holds the text model's configuration, if the file has it
  std::string_view unnamed_type = {};  // data type of files without torch_dtype, where the family publishes such
};
std::span<const Architecture> architectures();

// Dense families.
ModelSpec read_llama(ConfigReader&);  // and Mistral
ModelSpec read_smollm3(ConfigReader&);
ModelSpec read_qwen2(ConfigReader&);
ModelSpec read_qwen3(ConfigReader&);
ModelSpec read_phi3(ConfigReader&);
ModelSpec read_gemma2(ConfigReader&);
ModelSpec read_gemma3(ConfigReader&);
ModelSpec read_gemma4(ConfigReader&);  // dense, and experts beside a dense part
ModelSpec read_opt(ConfigReader&);
ModelSpec read_decilm(ConfigReader&);  // Llama-3.3-Nemotron-Super: layers that differ

// Families with routed experts.
ModelSpec read_mixtral(ConfigReader&);
ModelSpec read_qwen2_moe(ConfigReader&);
ModelSpec read_qwen3_moe(ConfigReader&);
ModelSpec read_deepseek(ConfigReader&);  // V2, V2-Lite, V3, R1; Kimi-K2
ModelSpec read_minimax_m2(ConfigReader&);
ModelSpec read_gpt_oss(ConfigReader&);
ModelSpec read_mimo_v2(ConfigReader&);  // values narrower than keys
ModelSpec read_step3p7(ConfigReader&);
ModelSpec read_glm4_moe(ConfigReader&);  // GLM-4.5, GLM-4.6
ModelSpec read_phimoe(ConfigReader&);    // Phi-3.5-MoE

ModelSpec read_sparse_deepseek(ConfigReader&);  // DeepSeek-V3.2, GLM-5: their sparse attention as dense, with a warning
ModelSpec read_llama4(ConfigReader&);           // chunks of attention as windows, with a warning

// Families with layers that keep a recurrent state.
ModelSpec read_qwen3_5(ConfigReader&);  // Qwen3-Next, Qwen3.5, Qwen3.6; dense and routed
ModelSpec read_kimi_k3(ConfigReader&);
ModelSpec read_nemotron_h(ConfigReader&);  // Nemotron-H, Nemotron-3

}  // namespace llmscape::models::hf
