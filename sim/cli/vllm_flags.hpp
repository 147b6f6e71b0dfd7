// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::cli {

// What a flag of vLLM's server (0.6 to 0.24, vllm/engine/arg_utils.py) says.
struct VllmFlag {
  enum class Meaning {
    count,
    tokens,
    share,  // above 0 and at most 1: the value of a key
    yes,
    no,  // of a key; a value behind it is True or False
    weights,
    activations,
    kv,  // a number format
    model,
    expert_parallel,
    speculation,  // the section of that name, in JSON
    compilation,
    kv_transfer,
    kv_offloading,  // of VllmSections
    lora,
    max_loras,
    max_lora_rank,
    lora_modules,
    only_one,        // a count that is modelled at 1 alone, or a size at 0: others change what the command means
    generates_text,  // a value other than "generate" and "auto" makes no tokens
    value_without_effect,
    without_effect,  // on any time: ports, logs, templates
  };
  std::string_view name;
  std::string_view key;  // of `serving`; "batcher." before those of the batcher; empty for what is no single key
  Meaning meaning;

  // Whether it may stand alone: a value behind it is True or False.
  [[nodiscard]] constexpr bool is_switch() const {
    return meaning == Meaning::yes || meaning == Meaning::no || meaning == Meaning::expert_parallel ||
           meaning == Meaning::lora || meaning == Meaning::without_effect;
  }
};

// The flag of that name, with dashes; nullptr if it is not known.
const VllmFlag* vllm_flag(std::string_view name);
std::vector<std::string> vllm_flag_names();

// Our name for a number format as vLLM writes it; empty for one that keeps the model's own, nothing for an unknown one.
std::optional<std::string_view> vllm_format(VllmFlag::Meaning meaning, std::string_view name);

// "32k" is 32000 and "32K" 32768, as vLLM reads them; nothing for what is no number of tokens.
std::optional<std::string> vllm_tokens(std::string_view text);

// Above 0 and at most 1, as quantities are written: "0.85" of ".85", which Python reads too.
std::optional<std::string> vllm_share(std::string text);

// From 1 up to a million: products of a few stay far from the largest integer.
bool is_vllm_count(const std::string& text);

}  // namespace llmscape::cli
