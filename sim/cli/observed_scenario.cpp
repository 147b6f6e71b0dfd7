// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/observed_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/command_words.hpp"
#include "sim/cli/hugging_face_name.hpp"
#include "sim/cli/model_formats.hpp"
#include "sim/cli/sglang_arguments.hpp"
#include "sim/cli/vllm_command.hpp"
#include "sim/cli/vllm_flags.hpp"
#include "sim/observe/log_line.hpp"
#include "sim/scenario/scenario_paths.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

YamlNode yaml_text(std::string text) { return YamlNode::scalar(std::move(text)); }

std::string setting(const observe::Observed& observed, const std::string& name) {
  const auto found = observed.settings.find(name);
  return found == observed.settings.end() ? "" : found->second;
}

// The text of a dictionary as Python prints it, as JSON.
std::string python_as_json(std::string_view python) {
  std::string json, word;
  char quote = 0;
  const auto keep_word = [&] {
    if (word == "True" || word == "False") word[0] = static_cast<char>(std::tolower(word[0]));
    json += word == "None" ? "null" : word;
    word.clear();
  };
  for (std::size_t i = 0; i < python.size(); ++i) {
    const char c = python[i];
    if (quote && c == '\\' && i + 1 < python.size() && python[i + 1] == '\'') {
      json += python[++i];  // JSON has no such escape
    } else if (quote && c == '\\' && i + 1 < python.size()) {
      (json += c) += python[++i];
    } else if (c == quote || (!quote && (c == '\'' || c == '"'))) {
      keep_word();
      json += '"';
      quote = quote ? 0 : c;
    } else if (quote) {
      json += c == '"' ? "\\\"" : std::string(1, c);
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      word += c;
    } else {
      keep_word();
      json += c == '(' ? '[' : c == ')' ? ']' : c;
    }
  }
  keep_word();
  return json;
}

// What a log prints of vLLM's arguments, as the words of the command that they were given with: a value may hold blanks
// and quotes.
std::vector<CommandWord> vllm_words(const observe::Observed& observed, std::vector<std::string>& notes) {
  std::vector<CommandWord> words = {{"vllm", {}}, {"serve", {}}, {setting(observed, "model"), {}}};
  for (const auto& [name, value] : observed.arguments) {
    if (name == "model" || name == "model_tag" || value == "None" || value.empty()) continue;
    const SourceRange where{std::make_shared<const SourceText>(SourceText{"the log's " + name, ""})};
    std::string flag = name;
    std::ranges::replace(flag, '_', '-');
    const VllmFlag* known = vllm_flag("--" + flag);
    const bool switched = (value == "True" || value == "False") && (!known || known->is_switch());
    if (!switched && !known) {
      notes.push_back(fmt::format("not modelled and left out: {} {}", name, value));
      continue;
    }
    words.push_back({(switched && value == "False" ? "--no-" : "--") + flag, where});
    if (switched) continue;
    if (known->meaning == VllmFlag::Meaning::lora_modules && value.starts_with('['))
      for (const std::string& module : observe::python_items(value)) words.push_back({module, where});
    else words.push_back({value.starts_with('{') ? python_as_json(value) : value, where});
  }
  return words;
}

struct Settings {
  YamlNode serving, formats;
  std::int64_t devices = 1;
};

std::optional<Settings> settings_of(const observe::Observed& observed, const std::string& device,
                                    std::vector<std::string>& notes, Diagnostics& diagnostics) {
  if (setting(observed, "engine") == "sglang") {
    SglangArguments read = read_sglang_arguments(observed.arguments, notes);
    return Settings{std::move(read.serving), std::move(read.formats), read.devices};
  }
  const auto steps = vllm_batch_defaults_of(device, diagnostics);
  if (!steps) return std::nullopt;
  const auto command = read_vllm_command(vllm_words(observed, notes), *steps, diagnostics);
  if (!command) return std::nullopt;
  for (const std::string& assumed : command->sections.assumed) notes.push_back("assumed: " + assumed);
  return Settings{command->serving, command->formats, command->devices};
}

// Pools are counted in blocks of every layer only where all layers keep all tokens.
void set_pool(const observe::Observed& observed, YamlNode& serving, std::vector<std::string>& notes) {
  const std::string tokens = setting(observed, "kv_tokens"), blocks = setting(observed, "kv_blocks");
  if (!blocks.empty()) {
    serving.set("kv_blocks", yaml_text(blocks));
    return;
  }
  if (!tokens.empty()) notes.push_back(fmt::format("the log says {} tokens of KV pool", tokens));
}

// How many servers left their logs: engines of the same time have the name of their file behind theirs.
std::int64_t servers_in(const observe::Observed& observed) {
  const auto running = observed.courses.find(observe::quantity::kRunning);
  const auto told = observed.told_by.find(observe::quantity::kRunning);
  if (running == observed.courses.end() || told == observed.told_by.end() || !told->second.ends_with("-log")) return 1;
  std::set<std::string> servers;
  for (const auto& [name, course] : running->second)
    servers.insert(name.find('@') == name.npos ? "" : name.substr(name.find('@')));
  return static_cast<std::int64_t>(servers.size());
}

std::optional<YamlNode> made(const observe::Observed& observed, const ObservedBase& base,
                             std::vector<std::string>& notes, Diagnostics& diagnostics) {
  const std::string theirs = setting(observed, "model");
  const std::string model =
      base.model.empty() ? catalogue_model(theirs, models::model_names(catalogs().models)) : base.model;
  if (model.empty()) {
    diagnostics.error({}, fmt::format("no model of the catalogue is {}", in_quotes(theirs)),
                      "name one with --model, or its config.json");
    return std::nullopt;
  }
  if (const std::string note = version_note(theirs, model); base.model.empty() && !note.empty()) notes.push_back(note);
  auto settings = settings_of(observed, base.device, notes, diagnostics);
  if (!settings) return std::nullopt;
  widen_to_hidden_states(settings->formats, model, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  YamlNode model_node;
  model_node.set(
      model.ends_with(".json") || model.ends_with(".yaml") ? "hf_config" : "preset",
      yaml_text(model.ends_with(".json") || model.ends_with(".yaml") ? fs::absolute(model).string() : model));
  for (const auto& entry : settings->formats.entries) model_node.set(entry.key, entry.value);
  YamlNode device, devices, hardware, root;
  YamlNode engine = YamlNode::mapping({});
  device.set("preset", yaml_text(base.device));
  const std::int64_t servers = servers_in(observed);
  if (servers > 1)
    notes.push_back(fmt::format("assumed: {} servers, as there are logs, each on devices of its own", servers));
  device.set("count", yaml_text(std::to_string(settings->devices * servers)));
  devices.kind = YamlNode::Kind::sequence;
  devices.items.push_back(std::move(device));
  hardware.set("devices", std::move(devices));
  engine.set("name", yaml_text(setting(observed, "engine")));
  const std::string version = release_in(setting(observed, "version"));
  if (!version.empty()) engine.set("version", YamlNode::scalar(version, true));
  // As in a log that was cut off in front: another server than the one that was, perhaps.
  if (version.empty())
    notes.push_back(
        fmt::format("no version of {} stands in the log: the newest that is known is taken; --set "
                    "serving.engine.version=... names another",
                    setting(observed, "engine")));
  if (observed.arguments.empty())
    notes.emplace_back("no arguments of the server stand in the log: the engine's defaults are taken");
  if (const YamlNode* said = settings->serving.find("engine"))
    for (const auto& entry : said->entries)
      if (!engine.find(entry.key)) engine.set(entry.key, entry.value);
  settings->serving.set("engine", std::move(engine));
  set_pool(observed, settings->serving, notes);
  root.set("schema", yaml_text("scenario/1"));
  root.set("model", std::move(model_node));
  root.set("hardware", std::move(hardware));
  root.set("serving", std::move(settings->serving));
  return root;
}

}  // namespace

std::optional<YamlNode> observed_scenario(const observe::Observed& observed, const ObservedBase& base,
                                          const fs::path& folder, std::vector<std::string>& notes,
                                          Diagnostics& diagnostics) {
  std::optional<YamlNode> root;
  if (!base.scenario.empty()) {
    YamlNode tree = read_yaml_file(base.scenario, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    root = scenario::moved_paths(std::move(tree), fs::path(base.scenario).parent_path(), folder);
  } else if (!base.device.empty() && !setting(observed, "engine").empty() && !setting(observed, "model").empty()) {
    root = made(observed, base, notes, diagnostics);
  }
  // Tools tell figures of whole runs.
  if (root && !root->find("window")) {
    YamlNode window;
    window.set("rule", yaml_text("whole"));
    root->set("window", std::move(window));
  }
  if (!root || observed.requests.empty()) return root;
  YamlNode replay, workload;
  replay.set("trace", yaml_text("trace.jsonl"));
  workload.set("replay", std::move(replay));
  root->set("workload", std::move(workload));
  return root;
}

}  // namespace llmscape::cli
