// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/observed_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/hugging_face_name.hpp"
#include "sim/cli/vllm_command.hpp"
#include "sim/cli/vllm_flags.hpp"
#include "sim/scenario/scenario_paths.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

YamlNode yaml_text(std::string text) { return YamlNode::scalar(std::move(text)); }

std::string setting(const observe::Observed& observed, const std::string& name) {
  const auto found = observed.settings.find(name);
  return found == observed.settings.end() ? "" : found->second;
}

// What a log prints of vLLM's arguments, as the command that they were given with.
std::string vllm_command(const observe::Observed& observed) {
  std::string command = "vllm serve " + setting(observed, "model");
  for (const auto& [name, value] : observed.arguments) {
    if (name == "model" || name == "model_tag" || value == "None" || value.empty()) continue;
    std::string flag = name;
    std::ranges::replace(flag, '_', '-');
    if (value == "True") command += " --" + flag;
    else if (value == "False") command += " --no-" + flag;
    else if (vllm_flag("--" + flag)) command += fmt::format(" --{} '{}'", flag, value);
  }
  return command;
}

// SGLang's arguments (python/sglang/srt/server_args.py) and the keys of `serving`.
struct SglangKey {
  std::string_view theirs, ours;
};
constexpr std::array kSglangKeys = {SglangKey{"tp_size", "tensor_parallel"},
                                    SglangKey{"dp_size", "data_parallel"},
                                    SglangKey{"ep_size", "expert_parallel"},
                                    SglangKey{"pp_size", "pipeline_parallel"},
                                    SglangKey{"mem_fraction_static", "gpu_memory_utilization"},
                                    SglangKey{"context_length", "max_model_len"}};
constexpr std::array kSglangBatcherKeys = {SglangKey{"max_running_requests", "max_running_requests"},
                                           SglangKey{"chunked_prefill_size", "chunked_prefill_size"}};

struct Settings {
  YamlNode serving, formats;
  std::int64_t devices = 1;
};

std::int64_t whole(const std::string& text) {
  std::int64_t number = 1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Settings sglang_settings(const observe::Observed& observed) {
  Settings settings;
  const auto value = [&](std::string_view name) {
    const auto found = observed.arguments.find(std::string(name));
    return found == observed.arguments.end() || found->second == "None" ? std::string() : found->second;
  };
  YamlNode batcher;
  batcher.set("policy", yaml_text("sglang"));
  for (const SglangKey& key : kSglangKeys)
    if (const std::string text = value(key.theirs); !text.empty()) settings.serving.set(key.ours, yaml_text(text));
  for (const SglangKey& key : kSglangBatcherKeys)
    if (const std::string text = value(key.theirs); !text.empty()) batcher.set(key.ours, yaml_text(text));
  if (value("disable_radix_cache") == "True") batcher.set("radix_cache", yaml_text("false"));
  settings.serving.set("batcher", std::move(batcher));
  if (const std::string text = value("stream_interval"); !text.empty()) {
    YamlNode engine;
    engine.set("name", yaml_text("sglang"));
    engine.set("stream_interval", yaml_text(text));
    settings.serving.set("engine", std::move(engine));
  }
  for (const char* degree : {"tp_size", "pp_size"})
    if (const std::string text = value(degree); !text.empty()) settings.devices *= whole(text);
  if (value("kv_cache_dtype").starts_with("fp8")) settings.formats.set("kv", yaml_text("fp8"));
  return settings;
}

std::optional<Settings> settings_of(const observe::Observed& observed, std::vector<std::string>& notes,
                                    Diagnostics& diagnostics) {
  if (setting(observed, "engine") == "sglang") return sglang_settings(observed);
  const auto command = read_vllm_command(vllm_command(observed), diagnostics);
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
  auto settings = settings_of(observed, notes, diagnostics);
  if (!settings) return std::nullopt;
  YamlNode model_node;
  model_node.set(
      model.ends_with(".json") || model.ends_with(".yaml") ? "hf_config" : "preset",
      yaml_text(model.ends_with(".json") || model.ends_with(".yaml") ? fs::absolute(model).string() : model));
  for (const auto& entry : settings->formats.entries) model_node.set(entry.key, entry.value);
  YamlNode device, devices, hardware, engine, root;
  device.set("preset", yaml_text(base.device));
  device.set("count", yaml_text(std::to_string(settings->devices)));
  devices.kind = YamlNode::Kind::sequence;
  devices.items.push_back(std::move(device));
  hardware.set("devices", std::move(devices));
  engine.set("name", yaml_text(setting(observed, "engine")));
  const std::string version = release_in(setting(observed, "version"));
  if (!version.empty()) engine.set("version", YamlNode::scalar(version, true));
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
