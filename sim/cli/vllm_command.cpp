// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/vllm_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "base/quantity.hpp"
#include "sim/cli/command_words.hpp"
#include "sim/cli/vllm_flags.hpp"
#include "sim/scenario/engine_defaults.hpp"
#include "sim/scenario/engine_versions.hpp"

namespace llmscape::cli {
namespace {

using Meaning = VllmFlag::Meaning;
using Word = CommandWord;

bool is_number(const std::string& text) {
  return std::holds_alternative<double>(parse_quantity(text, Dimension::number));
}

class Reader {
 public:
  Reader(std::vector<Word> words, const VllmBatchDefaults& otherwise, Diagnostics& diagnostics)
      : words_(std::move(words)), otherwise_(otherwise), diagnostics_(diagnostics) {}

  std::optional<VllmCommand> read() {
    if (!skip_program()) return std::nullopt;
    while (next_ < words_.size()) read_argument(words_[next_++]);
    const bool doubtful = command_.model.empty() && !model_or_value_.empty();
    if (doubtful) command_.model = likeliest_model();
    if (command_.model.empty()) diagnostics_.error(words_.back().where, "the command names no model");
    if (diagnostics_.has_errors()) return std::nullopt;
    complete();
    command_.sections = read_vllm_sections(said_, size("tensor_parallel"), command_.serving, diagnostics_);
    if (diagnostics_.has_errors()) return std::nullopt;
    size_steps();
    if (doubtful)
      command_.sections.assumed.push_back(
          fmt::format("{}, which stands behind a flag that is not known, is the model", in_quotes(command_.model)));
    return std::move(command_);
  }

 private:
  bool skip_program() {
    // A container's own options come before the image, whose entry point is the server.
    const bool container = !words_.empty() && (words_[0].text == "docker" || words_[0].text == "podman" ||
                                               (words_[0].text == "sudo" && words_.size() > 1));
    for (; next_ < words_.size(); ++next_) {
      const std::string& word = words_[next_].text;
      if (word.starts_with("VLLM_") && word != "VLLM_USE_V1=1") left_out_of_environment(words_[next_]);
      if (container && word.find("vllm-openai") != std::string::npos) {
        take_version(words_[next_]);
        for (++next_; next_ < words_.size() && (words_[next_].text == "vllm" || words_[next_].text == "serve");)
          ++next_;
        return true;
      }
      if (word == "serve" && next_ > 0 && words_[next_ - 1].text == "bench") {
        diagnostics_.error(words_[next_].where, "'vllm bench serve' is the client, which sends the load",
                           "give the command of the server that it speaks to: \"vllm serve MODEL --flags\"");
        return false;
      }
      if (word == "serve" || word == "vllm.entrypoints.openai.api_server") {
        ++next_;
        return true;
      }
      if (word.starts_with('-') && word != "-m" && !container) break;
    }
    diagnostics_.error(words_.empty() ? SourceRange() : words_.front().where, "this is no command of vLLM's server",
                       "write \"vllm serve MODEL --flags\"");
    return false;
  }

  void left_out_of_environment(const Word& word) {
    const bool old_engine = word.text == "VLLM_USE_V1=0";
    diagnostics_.warning(word.where, fmt::format("{} is not modelled and was left out", in_quotes(word.text)),
                         old_engine ? "batcher: {policy: vllm_v0} schedules as that engine does" : "");
  }

  // Of an image: "vllm/vllm-openai:v0.8.5".
  void take_version(const Word& image) {
    const std::size_t colon = image.text.rfind(':');
    if (colon == std::string::npos) return;
    const std::string version = release_in(image.text.substr(colon + 1));
    if (!scenario::is_version(version)) return;
    if (scenario::engine_default("vllm", version, "batcher") != "vllm_v1") {
      diagnostics_.warning(image.where, fmt::format("vLLM {} scheduled otherwise than what is written here", version),
                           fmt::format("batcher: {{policy: {}}} schedules as its engine did",
                                       scenario::engine_default("vllm", version, "batcher")));
      return;
    }
    put("engine.name", "vllm");
    engine_.set("version", YamlNode::scalar(version, true));
  }

  // A flag's further values: "--served-model-name a b". Before the model is known the next word may be that.
  void skip_values() {
    while (!command_.model.empty() && next_ < words_.size() && !words_[next_].text.starts_with('-')) ++next_;
  }

  void read_argument(const Word& word) {
    if (!word.text.starts_with('-')) return set_model(word);
    std::string name = word.text.substr(0, word.text.find('='));
    std::replace(name.begin() + 1, name.end(), '_', '-');
    for (const auto& [section, json] : {std::pair("--speculative-config.", &said_.speculation),
                                        std::pair("--compilation-config.", &said_.compilation)})
      if (name.starts_with(section)) {
        if (const auto value = value_of(word)) add_member(word.text.substr(std::strlen(section)), *value, *json);
        return;
      }
    const VllmFlag* flag = vllm_flag(name);
    const bool turned = !flag && name.starts_with("--no-");  // every switch has its opposite
    if (turned) flag = vllm_flag("--" + name.substr(5));
    if (!flag || (turned && !flag->is_switch())) return unknown(word, name);
    if (flag->is_switch()) {
      if (const auto on = switched(*flag, word)) take_switch(*flag, *on != turned);
    } else if (flag->meaning == Meaning::lora_modules) {
      std::int64_t modules = 0;
      for (; next_ < words_.size() && !words_[next_].text.starts_with('-'); ++next_) ++modules;
      said_.adapters = std::max<std::int64_t>(modules, 1);
    } else if (const auto value = value_of(word)) {
      take_value(*flag, *value);
      if (flag->meaning == Meaning::value_without_effect) skip_values();
    }
  }

  // Whether the flag is on: vLLM before 0.9 took True or False behind some of them. Nothing after reporting.
  std::optional<bool> switched(const VllmFlag& flag, const Word& word) {
    const std::size_t equals = word.text.find('=');
    const auto is = [](std::string text, std::string_view wanted) {
      std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
      return text == wanted;
    };
    if (equals == std::string::npos) {
      if (next_ == words_.size()) return true;
      const std::string& behind = words_[next_].text;
      const bool off = is(behind, "false");
      if (off || is(behind, "true")) ++next_;
      return !off;
    }
    const std::string value = word.text.substr(equals + 1);
    if (is(value, "true") || value == "1") return true;
    if (is(value, "false") || value == "0") return false;
    diagnostics_.error(word.where, fmt::format("'{}' is true or false; got {}", flag.name, in_quotes(value)),
                       fmt::format("write '{}' alone to turn it on", flag.name));
    return std::nullopt;
  }

  void take_switch(const VllmFlag& flag, bool on) {
    if (flag.meaning == Meaning::expert_parallel) expert_parallel_ = on;
    else if (flag.meaning == Meaning::lora) said_.lora = on;
    else if (flag.meaning != Meaning::without_effect)
      put(flag.key, on == (flag.meaning == Meaning::yes) ? "true" : "false");
  }

  // What stands behind `=`, or the next word.
  std::optional<Word> value_of(const Word& word) {
    const std::size_t equals = word.text.find('=');
    if (equals != std::string::npos) return Word{word.text.substr(equals + 1), word.where};
    if (next_ < words_.size()) return words_[next_++];
    diagnostics_.error(word.where, fmt::format("'{}' needs a value", word.text));
    return std::nullopt;
  }

  void take_value(const VllmFlag& flag, const Word& value) {
    const auto refuse = [&](std::string_view wanted) {
      diagnostics_.error(value.where, fmt::format("'{}' must be {}; got {}", flag.name, wanted, in_quotes(value.text)));
    };
    switch (flag.meaning) {
      case Meaning::model: return set_model(value);
      case Meaning::count:
        return is_vllm_count(value.text) ? put(flag.key, value.text) : refuse("a whole number from 1 to 1,000,000");
      case Meaning::share: {
        const auto share = vllm_share(value.text);
        return share ? put(flag.key, *share) : refuse("above 0 and at most 1");
      }
      case Meaning::tokens: {
        const auto tokens = vllm_tokens(value.text);
        return tokens ? put(flag.key, *tokens) : refuse("a number of tokens such as 8192, 32k or 32K");
      }
      case Meaning::speculation: said_.speculation = VllmText{value.text, value.where}; return;
      case Meaning::compilation: said_.compilation = VllmText{value.text, value.where}; return;
      case Meaning::kv_transfer: said_.kv_transfer = VllmText{value.text, value.where}; return;
      case Meaning::kv_offloading: said_.kv_offloading = VllmText{value.text, value.where}; return;
      case Meaning::max_loras:
      case Meaning::max_lora_rank:
        if (!is_vllm_count(value.text)) return refuse("a whole number from 1 to 1,000,000");
        (flag.meaning == Meaning::max_loras ? said_.max_loras : said_.max_lora_rank) = std::stoll(value.text);
        return;
      case Meaning::only_one:
        if (value.text == "1" || value.text == "0") return;
        diagnostics_.error(value.where,
                           fmt::format("{} is not modelled, and changes what every figure means", flag.key),
                           fmt::format("leave '{}' out to see the system without it", flag.name));
        return;
      case Meaning::generates_text:
        if (value.text != "generate" && value.text != "auto")
          diagnostics_.error(value.where, fmt::format("a server that does not generate text ({}) is not modelled",
                                                      in_quotes(value.text)));
        return;
      case Meaning::weights: return put_format("weights", flag.meaning, value);
      case Meaning::activations: return put_format("activations", flag.meaning, value);
      case Meaning::kv: return put_format("kv", flag.meaning, value);
      default: return;  // without effect
    }
  }

  void put_format(std::string_view key, Meaning meaning, const Word& value) {
    const auto format = vllm_format(meaning, value.text);
    if (!format) {
      diagnostics_.warning(
          value.where, fmt::format("no number format is known for {}: the model's own is kept", in_quotes(value.text)));
    } else if (!format->empty()) {
      command_.formats.set(key, YamlNode::scalar(std::string(*format)));
      if (meaning == Meaning::weights) command_.formats.set("embeddings", YamlNode::scalar("bf16"));
    }
  }

  // --speculative-config.num_speculative_tokens 3: a member of its JSON.
  static void add_member(std::string key, const Word& value, std::optional<VllmText>& section) {
    key = key.substr(0, key.find('='));
    std::ranges::replace(key, '-', '_');
    const std::string text = is_number(value.text) ? value.text : '"' + value.text + '"';
    if (!section) section = VllmText{"{}", value.where};
    std::string& json = section->text;
    json.pop_back();
    json += fmt::format("{}\"{}\": {}}}", json == "{" ? "" : ", ", key, text);
  }

  void set_model(const Word& word) {
    if (command_.model.empty()) command_.model = word.text;
    else diagnostics_.error(word.where, fmt::format("a second model, {}", in_quotes(word.text)));
  }

  // Of the words behind unknown flags: ORGANISATION/NAME or a path, else the first.
  [[nodiscard]] std::string likeliest_model() const {
    const auto named =
        std::ranges::find_if(model_or_value_, [](const std::string& text) { return text.find('/') != text.npos; });
    return named == model_or_value_.end() ? model_or_value_.front() : *named;
  }

  void unknown(const Word& word, const std::string& name) {
    diagnostics_.warning(word.where, fmt::format("{} is not modelled and was left out", in_quotes(name)),
                         did_you_mean(name, vllm_flag_names()));
    const bool has_value = next_ < words_.size() && !words_[next_].text.starts_with('-');
    if (word.text.find('=') != std::string::npos || !has_value) return;
    if (command_.model.empty()) model_or_value_.push_back(words_[next_].text);
    ++next_;
    skip_values();
  }

  void put(std::string_view key, std::string value) {
    constexpr std::string_view kBatcher = "batcher.", kEngine = "engine.";
    YamlNode node = YamlNode::scalar(std::move(value));
    if (key.starts_with(kBatcher)) batcher_.set(key.substr(kBatcher.size()), std::move(node));
    else if (key.starts_with(kEngine)) engine_.set(key.substr(kEngine.size()), std::move(node));
    else command_.serving.set(key, std::move(node));
  }

  [[nodiscard]] std::int64_t size(std::string_view key) const {
    const YamlNode* found = command_.serving.find(key);
    return found ? std::stoll(found->text) : 1;
  }

  // Puts together what several flags say.
  void complete() {
    const std::int64_t tensor = size("tensor_parallel"), data = size("data_parallel");
    command_.devices = tensor * size("pipeline_parallel") * data;
    // Without the flag the experts are cut over all tensor and data-parallel ranks, which is the plan's default.
    if (expert_parallel_) command_.serving.set("expert_parallel", YamlNode::scalar(std::to_string(tensor * data)));
    YamlNode batcher = YamlNode::mapping({});
    batcher.set("policy", YamlNode::scalar("vllm_v1"));
    for (auto& entry : batcher_.entries) batcher.set(entry.key, std::move(entry.value));
    command_.serving.set("batcher", std::move(batcher));
    if (!engine_.entries.empty()) command_.serving.set("engine", std::move(engine_));
  }

  // What the command leaves open of them.
  void size_steps() {
    YamlNode& batcher = *command_.serving.find("batcher");
    const auto settle = [&](const char* key, std::int64_t usual) {
      if (const YamlNode* said = batcher.find(key)) return std::stoll(said->text);
      batcher.set(key, YamlNode::scalar(std::to_string(usual)));
      command_.defaults.push_back(fmt::format("{} {}", key, usual));
      return static_cast<long long>(usual);
    };
    const YamlNode* drafting = command_.serving.find("speculation");
    const YamlNode* drafts = drafting ? drafting->find("tokens") : nullptr;
    const std::int64_t tokens = settle("max_num_batched_tokens", usual_tokens(batcher));
    const std::int64_t fit = tokens / (1 + (drafts ? std::stoll(drafts->text) : 0));
    settle("max_num_seqs", std::max<std::int64_t>(1, std::min(otherwise_.max_num_seqs, fit)));
  }

  // Without chunked prefill a step must hold the longest prompt (arg_utils.py, EngineArgs._set_default_args, from
  // memory).
  std::int64_t usual_tokens(const YamlNode& batcher) {
    const YamlNode* chunked = batcher.find("chunked_prefill");
    if (!chunked || chunked->text != "false" || batcher.find("max_num_batched_tokens"))
      return otherwise_.max_num_batched_tokens;
    if (const YamlNode* length = command_.serving.find("max_model_len"))
      return std::max<std::int64_t>(otherwise_.max_num_batched_tokens, std::stoll(length->text));
    command_.sections.assumed.push_back(
        "without chunked prefill vLLM's steps hold as many tokens as the model's longest prompt: say --max-model-len, "
        "or a prompt of more tokens than a step has is never served");
    return otherwise_.max_num_batched_tokens;
  }

  std::vector<Word> words_;
  VllmBatchDefaults otherwise_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
  std::vector<std::string> model_or_value_;  // behind unknown flags, while no model was named
  VllmCommand command_;
  YamlNode batcher_, engine_;
  VllmSections said_;
  bool expert_parallel_ = false;
};

}  // namespace

std::string release_in(const std::string& version) {
  std::string release = version.substr(version.starts_with('v') ? 1 : 0);
  release = release.substr(0, release.find_first_not_of("0123456789."));
  while (release.ends_with('.')) release.pop_back();
  return release;
}

std::optional<VllmCommand> read_vllm_command(const std::string& command, const VllmBatchDefaults& otherwise,
                                             Diagnostics& diagnostics) {
  auto words = words_of_command("vllm command", command, diagnostics);
  return words ? read_vllm_command(std::move(*words), otherwise, diagnostics) : std::nullopt;
}

std::optional<VllmCommand> read_vllm_command(std::vector<CommandWord> words, const VllmBatchDefaults& otherwise,
                                             Diagnostics& diagnostics) {
  return Reader(std::move(words), otherwise, diagnostics).read();
}

}  // namespace llmscape::cli
