// SPDX-License-Identifier: Apache-2.0
#include "models/hf_config.hpp"

#include "models/hf/families.hpp"
#include "models/hf/quantization.hpp"
#include "models/model_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::models {
namespace hf {

std::span<const Architecture> architectures() {
  static constexpr Architecture table[] = {
      {"LlamaForCausalLM", "llama", read_llama},
      {"MistralForCausalLM", "mistral", read_llama},
      {"SmolLM3ForCausalLM", "smollm3", read_smollm3},
      {"Qwen2ForCausalLM", "qwen2", read_qwen2},
      {"Qwen3ForCausalLM", "qwen3", read_qwen3},
      {"Phi3ForCausalLM", "phi3", read_phi3},
      {"Gemma2ForCausalLM", "gemma2", read_gemma2},
      {"Gemma3ForCausalLM", "gemma3", read_gemma3},
      {"Gemma3ForConditionalGeneration", "gemma3", read_gemma3, "text_config"},
      {"Gemma4ForConditionalGeneration", "gemma4", read_gemma4, "text_config"},
      {"Gemma4ForCausalLM", "gemma4", read_gemma4},
      {"OPTForCausalLM", "opt", read_opt},
      {"MixtralForCausalLM", "mixtral", read_mixtral},
      {"Qwen2MoeForCausalLM", "qwen2_moe", read_qwen2_moe},
      {"Qwen3MoeForCausalLM", "qwen3_moe", read_qwen3_moe},
      {"Qwen3VLForConditionalGeneration", "qwen3_vl", read_qwen3, "text_config"},
      {"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", read_qwen3_moe, "text_config"},
      {"Qwen3_5ForConditionalGeneration", "qwen3_5", read_qwen3_5, "text_config"},
      {"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", read_qwen3_5, "text_config"},
      {"Qwen3NextForCausalLM", "qwen3_next", read_qwen3_5},
      {"NemotronHForCausalLM", "nemotron_h", read_nemotron_h},
      {"MiMoForCausalLM", "mimo", read_qwen2},
      {"MiMoV2FlashForCausalLM", "mimo_v2", read_mimo_v2},
      {"Step3p7FlashForCausalLM", "step3p7", read_step3p7},
      {"DeciLMForCausalLM", "decilm", read_decilm},
      {"Llama4ForConditionalGeneration", "llama4", read_llama4, "text_config"},
      {"DeepseekV32ForCausalLM", "deepseek_v32", read_sparse_deepseek},
      {"KimiK25ForConditionalGeneration", "kimi_k25", read_deepseek, "text_config"},
      {"KimiK3ForConditionalGeneration", "kimi_k3", read_kimi_k3, "text_config"},
      {"DeepseekV2ForCausalLM", "deepseek_v2", read_deepseek},
      {"DeepseekV3ForCausalLM", "deepseek_v3", read_deepseek},
      {"GlmMoeDsaForCausalLM", "glm_moe_dsa", read_sparse_deepseek},
      {"MiniMaxM2ForCausalLM", "minimax_m2", read_minimax_m2},
      {"Glm4MoeForCausalLM", "glm4_moe", read_glm4_moe},
      {"Mistral3ForConditionalGeneration", "mistral", read_llama, "text_config"},
      {"PhiMoEForCausalLM", "phimoe", read_phimoe},
      {"PhimoeForCausalLM", "phimoe", read_phimoe},
      {"GptOssForCausalLM", "gpt_oss", read_gpt_oss, {}, "bfloat16"},
  };
  return table;
}

}  // namespace hf

namespace {

// Architectures that are known not to fit what is modelled, and why.
struct Refused {
  std::string_view name, why;
};
constexpr Refused kRefused[] = {
    {"DeepseekV4ForCausalLM",
     "keys and values that are compressed 4 or 128 to 1 (compress_ratios), grouped output projections and several "
     "residual "
     "streams are not modelled"},
    {"MiniMaxM3ForCausalLM", "block-sparse attention (sparse_attention_config) is not modelled"},
};

// nullptr after reporting.
const hf::Architecture* architecture_of(const YamlNode& root, Diagnostics& diagnostics) {
  const YamlNode* names = root.find("architectures");
  if (!names || !names->is_sequence() || names->items.empty()) {
    diagnostics.error(
        names ? names->where : root.where,
        "'architectures' must name the model's class: this does not look like a config.json of Hugging Face");
    return nullptr;
  }
  const YamlNode& name = names->items.front();
  const auto table = hf::architectures();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name.text; });
  if (found != table.end()) return &*found;
  const auto refused = std::ranges::find(kRefused, name.text, &Refused::name);
  if (refused != std::end(kRefused)) {
    diagnostics.error(name.where, fmt::format("{}: {}", refused->name, refused->why),
                      "describe the nearest model that is in a file of its own, schema model/1");
    return nullptr;
  }
  const auto known = hf_architectures();
  // Not the one that is spelled alike: architectures of alike names differ in what the name does not say.
  diagnostics.error(name.where,
                    fmt::format("architecture '{}' is not known; known: {}", name.text, fmt::join(known, ", ")),
                    "describe the model in a file of its own, schema model/1, and name that");
  return nullptr;
}

}  // namespace

std::vector<std::string> hf_architectures() {
  std::vector<std::string> names;
  for (const auto& entry : hf::architectures()) names.emplace_back(entry.name);
  return names;
}

std::optional<ModelSpec> read_hf_config(const YamlNode& root, std::string name, Diagnostics& diagnostics,
                                        const YamlNode* quantization) {
  const int before = diagnostics.errors();
  const hf::Architecture* architecture = architecture_of(root, diagnostics);
  if (!architecture) return std::nullopt;
  const YamlNode* nested = architecture->nested.empty() ? nullptr : root.find(architecture->nested);
  if (nested && !nested->is_mapping()) {
    diagnostics.error(nested->where, fmt::format("'{}' must be a mapping", architecture->nested));
    return std::nullopt;
  }
  hf::ConfigReader whole(root, diagnostics), text(nested ? *nested : root, diagnostics);
  ModelSpec model = architecture->read(text);
  // A file of several models says it at its top, and of its language part only where that differs.
  constexpr std::string_view kTied = "tie_word_embeddings";
  if (nested && !text.has(kTied)) model.tied_embeddings = whole.flag(kTied, model.tied_embeddings);
  model.name = std::move(name);
  model.family = architecture->family;
  const bool typed = whole.has("dtype") || whole.has("torch_dtype");
  hf::read_precision(typed ? whole : text, whole.has("quantization_config") ? whole : text, quantization,
                     architecture->unnamed_type, model);
  if (const YamlNode* vision = root.find("vision_config"); nested && vision)
    diagnostics.warning(vision->where, "only the language part is modelled: images cost nothing");
  if (diagnostics.errors() == before) check_size(model, root.where, diagnostics);
  if (diagnostics.errors() != before) return std::nullopt;
  return model;
}

}  // namespace llmscape::models
