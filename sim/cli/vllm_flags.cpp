// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/vllm_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <regex>
#include <string_view>
#include <utility>

namespace llmscape::cli {
namespace {

// A word of the command, without its quotes, and where it stands.
struct Word {
  std::string text;
  SourceRange where;
};

std::vector<Word> words_of(const std::string& command) {
  const auto source = std::make_shared<const SourceText>(SourceText{"vllm command", command});
  std::vector<Word> words;
  for (std::size_t i = 0; i < command.size();) {
    if (std::isspace(static_cast<unsigned char>(command[i])) || (command[i] == '\\' && command[i + 1] == '\n')) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    Word word;
    char quote = 0;
    for (; i < command.size() && (quote || !std::isspace(static_cast<unsigned char>(command[i]))); ++i) {
      const char c = command[i];
      if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? 0 : c;
      else word.text += c;
    }
    const auto line_start = command.rfind('\n', begin) + 1;  // npos + 1 is 0
    word.where = {
        source,
        1 + static_cast<int>(std::count(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(begin), '\n')),
        1 + static_cast<int>(begin - line_start), static_cast<int>(i - begin)};
    words.push_back(std::move(word));
  }
  return words;
}

// What a flag of vLLM (0.6 to 0.24, vllm/engine/arg_utils.py) becomes.
enum class Meaning {
  integer,
  tokens,
  number,
  yes,
  no,
  quantization,
  dtype,
  kv_dtype,
  model,
  expert_parallel,
  value_without_effect,
  without_effect
};

struct Flag {
  std::string_view name, key;  // the key of `serving`; "batcher." before those of the batcher
  Meaning meaning;
};

constexpr std::array kFlags = {
    Flag{"--model", "", Meaning::model},
    Flag{"--tensor-parallel-size", "tensor_parallel", Meaning::integer},
    Flag{"-tp", "tensor_parallel", Meaning::integer},
    Flag{"--pipeline-parallel-size", "pipeline_parallel", Meaning::integer},
    Flag{"-pp", "pipeline_parallel", Meaning::integer},
    Flag{"--data-parallel-size", "data_parallel", Meaning::integer},
    Flag{"-dp", "data_parallel", Meaning::integer},
    Flag{"--enable-expert-parallel", "", Meaning::expert_parallel},
    Flag{"--max-model-len", "max_model_len", Meaning::tokens},
    Flag{"--gpu-memory-utilization", "gpu_memory_utilization", Meaning::number},
    Flag{"--block-size", "block_size", Meaning::integer},
    Flag{"--num-gpu-blocks-override", "kv_blocks", Meaning::integer},
    Flag{"--enforce-eager", "cuda_graphs", Meaning::no},
    Flag{"--max-cudagraph-capture-size", "max_cudagraph_capture_size", Meaning::integer},
    Flag{"--max-num-seqs", "batcher.max_num_seqs", Meaning::integer},
    Flag{"--max-num-batched-tokens", "batcher.max_num_batched_tokens", Meaning::tokens},
    Flag{"--long-prefill-token-threshold", "batcher.long_prefill_token_threshold", Meaning::tokens},
    Flag{"--enable-chunked-prefill", "batcher.chunked_prefill", Meaning::yes},
    Flag{"--no-enable-chunked-prefill", "batcher.chunked_prefill", Meaning::no},
    Flag{"--enable-prefix-caching", "batcher.enable_prefix_caching", Meaning::yes},
    Flag{"--no-enable-prefix-caching", "batcher.enable_prefix_caching", Meaning::no},
    Flag{"--async-scheduling", "batcher.async_scheduling", Meaning::yes},
    Flag{"--no-async-scheduling", "batcher.async_scheduling", Meaning::no},
    Flag{"--quantization", "", Meaning::quantization},
    Flag{"-q", "", Meaning::quantization},
    Flag{"--dtype", "", Meaning::dtype},
    Flag{"--kv-cache-dtype", "", Meaning::kv_dtype},
    Flag{"--host", "", Meaning::value_without_effect},
    Flag{"--port", "", Meaning::value_without_effect},
    Flag{"--api-key", "", Meaning::value_without_effect},
    Flag{"--api-server-count", "", Meaning::value_without_effect},
    Flag{"--served-model-name", "", Meaning::value_without_effect},
    Flag{"--tokenizer", "", Meaning::value_without_effect},
    Flag{"--tokenizer-mode", "", Meaning::value_without_effect},
    Flag{"--revision", "", Meaning::value_without_effect},
    Flag{"--download-dir", "", Meaning::value_without_effect},
    Flag{"--load-format", "", Meaning::value_without_effect},
    Flag{"--chat-template", "", Meaning::value_without_effect},
    Flag{"--generation-config", "", Meaning::value_without_effect},
    Flag{"--tool-call-parser", "", Meaning::value_without_effect},
    Flag{"--reasoning-parser", "", Meaning::value_without_effect},
    Flag{"--uvicorn-log-level", "", Meaning::value_without_effect},
    Flag{"--distributed-executor-backend", "", Meaning::value_without_effect},
    Flag{"--seed", "", Meaning::value_without_effect},
    Flag{"--trust-remote-code", "", Meaning::without_effect},
    Flag{"--disable-log-requests", "", Meaning::without_effect},
    Flag{"--no-enable-log-requests", "", Meaning::without_effect},
    Flag{"--disable-log-stats", "", Meaning::without_effect},
    Flag{"--disable-uvicorn-access-log", "", Meaning::without_effect},
    Flag{"--enable-auto-tool-choice", "", Meaning::without_effect},
};

struct Spelling {
  std::string_view theirs, ours;
};
// Formats by vLLM's names; what keeps the model's own is empty.
constexpr std::array kQuantizations = {
    Spelling{"fp8", "fp8"},     Spelling{"awq", "int4"},         Spelling{"awq_marlin", "int4"},
    Spelling{"gptq", "int4"},   Spelling{"gptq_marlin", "int4"}, Spelling{"bitsandbytes", "int4"},
    Spelling{"mxfp4", "mxfp4"},
};
constexpr std::array kDtypes = {Spelling{"auto", ""},     Spelling{"bfloat16", "bf16"}, Spelling{"float16", "fp16"},
                                Spelling{"half", "fp16"}, Spelling{"float32", "fp32"},  Spelling{"float", "fp32"}};
constexpr std::array kKvDtypes = {Spelling{"auto", ""}, Spelling{"fp8", "fp8"}, Spelling{"fp8_e4m3", "fp8"},
                                  Spelling{"fp8_e5m2", "fp8"}};

// "32k" is 32,000 and "32K" 32,768, as vLLM reads them.
std::optional<std::string> token_count(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1}, {"k", 1e3}, {"m", 1e6}, {"K", 1024}, {"M", 1048576}}};
  const auto known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (failure != std::errc() || known == kUnits.end()) return std::nullopt;
  const double tokens = number * known->second;
  if (!(tokens >= 1) || tokens > 1e12 || tokens != std::floor(tokens)) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(tokens));
}

bool is_number(const std::string& text) {
  double ignored = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return failure == std::errc() && end == text.data() + text.size();
}

bool is_integer(const std::string& text) {
  return is_number(text) && text.find_first_not_of("0123456789") == std::string::npos;
}

class Reader {
 public:
  Reader(std::vector<Word> words, Diagnostics& diagnostics) : words_(std::move(words)), diagnostics_(diagnostics) {}

  std::optional<VllmCommand> read() {
    if (!skip_program()) return std::nullopt;
    while (next_ < words_.size()) read_argument(words_[next_++]);
    if (command_.model.empty()) diagnostics_.error(words_.back().where, "the command names no model");
    if (diagnostics_.has_errors()) return std::nullopt;
    complete();
    return std::move(command_);
  }

 private:
  bool skip_program() {
    for (; next_ < words_.size(); ++next_) {
      const std::string& word = words_[next_].text;
      if (word == "serve" || word == "vllm.entrypoints.openai.api_server") {
        ++next_;
        return true;
      }
      if (word.starts_with('-') && word != "-m") break;
    }
    diagnostics_.error(words_.empty() ? SourceRange() : words_.front().where, "this is no command of vLLM's server",
                       "write \"vllm serve MODEL --flags\"");
    return false;
  }

  void read_argument(const Word& word) {
    if (!word.text.starts_with('-')) return set_model(word);
    std::string name = word.text.substr(0, word.text.find('='));
    std::replace(name.begin() + 1, name.end(), '_', '-');
    const auto flag = std::ranges::find(kFlags, name, &Flag::name);
    if (flag == kFlags.end()) return unknown(word, name);
    if (flag->meaning == Meaning::without_effect) return;
    if (flag->meaning == Meaning::expert_parallel) {
      expert_parallel_ = true;
    } else if (flag->meaning == Meaning::yes || flag->meaning == Meaning::no) {
      put(flag->key, flag->meaning == Meaning::yes ? "true" : "false");
    } else if (const auto value = value_of(word)) {
      take_value(*flag, *value);
    }
  }

  // What stands behind `=`, or the next word.
  std::optional<Word> value_of(const Word& word) {
    const std::size_t equals = word.text.find('=');
    if (equals != std::string::npos) return Word{word.text.substr(equals + 1), word.where};
    if (next_ < words_.size()) return words_[next_++];
    diagnostics_.error(word.where, fmt::format("'{}' needs a value", word.text));
    return std::nullopt;
  }

  void take_value(const Flag& flag, const Word& value) {
    const auto refuse = [&](std::string_view wanted) {
      diagnostics_.error(value.where, fmt::format("'{}' must be {}; got {}", flag.name, wanted, in_quotes(value.text)));
    };
    switch (flag.meaning) {
      case Meaning::model: return set_model(value);
      case Meaning::integer: return is_integer(value.text) ? put(flag.key, value.text) : refuse("a whole number");
      case Meaning::number: return is_number(value.text) ? put(flag.key, value.text) : refuse("a number");
      case Meaning::tokens: {
        const auto tokens = token_count(value.text);
        return tokens ? put(flag.key, *tokens) : refuse("a number of tokens such as 8192, 32k or 32K");
      }
      case Meaning::quantization: return put_format("weights", kQuantizations, value);
      case Meaning::dtype: return put_format("activations", kDtypes, value);
      case Meaning::kv_dtype: return put_format("kv", kKvDtypes, value);
      default: return;
    }
  }

  template <class Spellings>
  void put_format(std::string_view key, const Spellings& spellings, const Word& value) {
    const auto found = std::ranges::find(spellings, value.text, &Spelling::theirs);
    if (found == spellings.end()) {
      diagnostics_.warning(
          value.where, fmt::format("no number format is known for {}: the model's own is kept", in_quotes(value.text)));
    } else if (!found->ours.empty()) {
      command_.formats.set(key, YamlNode::scalar(std::string(found->ours)));
    }
  }

  void set_model(const Word& word) {
    if (command_.model.empty()) command_.model = word.text;
    else diagnostics_.error(word.where, fmt::format("a second model, {}", in_quotes(word.text)));
  }

  void unknown(const Word& word, const std::string& name) {
    std::vector<std::string> names;
    for (const Flag& flag : kFlags) names.emplace_back(flag.name);
    diagnostics_.warning(word.where, fmt::format("{} is not modelled and was left out", in_quotes(name)),
                         did_you_mean(name, names));
    const bool has_value = next_ < words_.size() && !words_[next_].text.starts_with('-');
    if (word.text.find('=') == std::string::npos && has_value) ++next_;
  }

  void put(std::string_view key, std::string value) {
    constexpr std::string_view kBatcher = "batcher.";
    if (key.starts_with(kBatcher)) batcher_.set(key.substr(kBatcher.size()), YamlNode::scalar(std::move(value)));
    else command_.serving.set(key, YamlNode::scalar(std::move(value)));
  }

  [[nodiscard]] std::int64_t size(std::string_view key) const {
    const YamlNode* found = command_.serving.find(key);
    return found ? std::stoll(found->text) : 1;
  }

  // Puts together what several flags say.
  void complete() {
    const std::int64_t tensor = size("tensor_parallel"), data = size("data_parallel");
    command_.devices = tensor * size("pipeline_parallel") * data;
    if (expert_parallel_) command_.serving.set("expert_parallel", YamlNode::scalar(std::to_string(tensor * data)));
    else command_.serving.erase("data_parallel");  // whole copies of the model are replicas of their own
    YamlNode batcher = YamlNode::mapping({});
    batcher.set("policy", YamlNode::scalar("vllm_v1"));
    for (auto& entry : batcher_.entries) batcher.set(entry.key, std::move(entry.value));
    for (const auto& [key, value] : {std::pair("max_num_seqs", "256"), std::pair("max_num_batched_tokens", "8192")}) {
      if (batcher.find(key)) continue;
      batcher.set(key, YamlNode::scalar(value));
      command_.defaults.push_back(fmt::format("{} {}", key, value));
    }
    command_.serving.set("batcher", std::move(batcher));
  }

  std::vector<Word> words_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
  VllmCommand command_;
  YamlNode batcher_;
  bool expert_parallel_ = false;
};

}  // namespace

std::optional<VllmCommand> read_vllm_command(const std::string& command, Diagnostics& diagnostics) {
  return Reader(words_of(command), diagnostics).read();
}

std::string catalogue_model(const std::string& hugging_face_name, const std::vector<std::string>& catalogue) {
  std::string name = hugging_face_name.substr(hugging_face_name.rfind('/') + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("meta-")) name.erase(0, 5);
  static const std::regex ending(
      "-(instruct|chat|hf|it|base|fp8|awq|gptq|int4|int8|fp8-dynamic|v0\\.[0-9]|v1\\.[0-9]|[0-9]{4})$");
  for (;;) {
    if (std::ranges::find(catalogue, name) != catalogue.end()) return name;
    const std::string shorter = std::regex_replace(name, ending, "");
    if (shorter == name) return {};
    name = shorter;
  }
}

}  // namespace llmscape::cli
