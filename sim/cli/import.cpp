// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/catalog.hpp"
#include "base/files.hpp"
#include "base/standard_streams.hpp"
#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/hugging_face_name.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/model_formats.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/vllm_command.hpp"

namespace llmscape::cli::import_verb {
namespace {

constexpr const char* kFooter =
    R"(What the command leaves open is announced on stderr and can be changed in the file. Flags that are
not modelled are reported and left out; those without which the command means something else end it
with exit code 2.

Examples:
  llmscape import vllm "vllm serve meta-llama/Llama-3.1-8B-Instruct -tp 2" -o scenario.yaml
  llmscape import vllm "vllm serve Qwen/Qwen3-32B-FP8 --kv-cache-dtype fp8" --device h200
  llmscape import vllm "docker run --gpus all -p 8000:8000 vllm/vllm-openai --model Qwen/Qwen3-32B")";

struct Arguments {
  std::string command, model, device, workload, output = "-";
  Messages messages;
};

// `chosen`, or the default, which is then announced.
std::string or_default(const std::string& chosen, std::string_view what, std::string_view fallback) {
  if (!chosen.empty()) return chosen;
  write_to_stderr(fmt::format("no {} given: {}\n", what, fallback));
  return std::string(fallback);
}

YamlNode scalar(std::string text) { return YamlNode::scalar(std::move(text)); }

YamlNode scenario_of(const VllmCommand& command, const std::string& model, const std::string& preset,
                     const Arguments& arguments) {
  YamlNode model_node;
  model_node.set(model.ends_with(".json") || model.ends_with(".yaml") ? "hf_config" : "preset", scalar(model));
  for (const auto& entry : command.formats.entries) model_node.set(entry.key, entry.value);

  YamlNode device;
  device.set("preset", scalar(preset));
  device.set("count", scalar(std::to_string(command.devices)));
  YamlNode devices;
  devices.kind = YamlNode::Kind::sequence;
  devices.items.push_back(std::move(device));
  YamlNode hardware;
  hardware.set("devices", std::move(devices));

  YamlNode workload;
  workload.set("preset", scalar(or_default(arguments.workload, "--workload", "chat-1k")));
  workload.set("requests", scalar("1000"));

  YamlNode root;
  root.set("schema", scalar("scenario/1"));
  root.set("model", std::move(model_node));
  root.set("hardware", std::move(hardware));
  root.set("serving", command.serving);
  root.set("workload", std::move(workload));
  root.set("seed", scalar("1"));
  return root;
}

// The formats that the checkpoint's name says, where no flag does and the catalogue's entry is another's.
void add_named_formats(VllmCommand& command) {
  const NamedFormats named = formats_in_name(command.model);
  if (named.weights.empty()) return;
  const YamlNode* flagged = command.formats.find("weights");
  if (!flagged) {
    command.formats.set("weights", scalar(named.weights));
    if (named.weights != "bf16") command.formats.set("embeddings", scalar("bf16"));  // checkpoints leave these
    if (!named.activations.empty()) command.formats.set("activations", scalar(named.activations));
    write_to_stderr(fmt::format("as {} is named: weights in {}\n", in_quotes(command.model), named.weights));
  }
}

// The share of a step that drafts of its own layers take, and the catalogue's name of a model that makes drafts.
void complete_drafts(VllmCommand& command, const std::string& model, const std::vector<std::string>& catalogue,
                     Diagnostics& diagnostics) {
  YamlNode* speculation = command.serving.find("speculation");
  if (!speculation) return;
  YamlNode draft;
  if (command.sections.draft_layers) {
    const auto spec = model_of(model, diagnostics);
    if (!spec) return;
    const double share = static_cast<double>(*command.sections.draft_layers) / static_cast<double>(spec->layers());
    draft.set("share", scalar(fmt::format("{:.4g}", share)));
    command.sections.assumed.push_back(
        fmt::format("drafts cost {} passes of one of {} layers a step (speculation.draft.share)",
                    *command.sections.draft_layers, spec->layers()));
  } else if (const auto& asked = command.sections.draft_model) {
    const std::string known = catalogue_model(asked->text, catalogue);
    if (known.empty()) {
      diagnostics.error(asked->where,
                        fmt::format("no model of the catalogue is {}, which makes the drafts", in_quotes(asked->text)));
      return;
    }
    draft.set("model", scalar(known));
  }
  if (!draft.entries.empty()) speculation->set("draft", std::move(draft));
}

void check_workload(const std::string& name, Diagnostics& diagnostics) {
  const SourceRange where{std::make_shared<const SourceText>(SourceText{"--workload", ""})};
  if (!name.empty() && !name.ends_with(".yaml"))
    catalog_entry(catalogs().workloads, "workload", name, where, diagnostics);
}

int import_vllm(const Arguments& arguments) {
  Diagnostics diagnostics;
  const std::string device = or_default(arguments.device, "--device", "h100-sxm");
  const auto steps = vllm_batch_defaults_of(device, diagnostics);
  check_workload(arguments.workload, diagnostics);
  if (!arguments.model.empty()) model_of(arguments.model, diagnostics);
  auto command = read_vllm_command(arguments.command, steps.value_or(VllmBatchDefaults()), diagnostics);
  std::string model = arguments.model;
  const std::vector<std::string> catalogue = models::model_names(catalogs().models);
  if (command && model.empty()) {
    model = catalogue_model(command->model, catalogue);
    if (model.empty())
      diagnostics.error({}, fmt::format("no model of the catalogue is {}", in_quotes(command->model)),
                        "name one with --model, or its config.json");
    else {
      add_named_formats(*command);
      const std::string note = version_note(command->model, model);
      if (!note.empty()) command->sections.assumed.push_back(note);
    }
  }
  if (command && !diagnostics.has_errors()) complete_drafts(*command, model, catalogue, diagnostics);
  if (command && !diagnostics.has_errors()) widen_to_hidden_states(command->formats, model, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  const std::string text = write_yaml(scenario_of(*command, model, device, arguments));
  if (!command->defaults.empty())
    write_to_stderr(fmt::format("not given, and vLLM's own on this device: {}\n", fmt::join(command->defaults, ", ")));
  for (const std::string& assumed : command->sections.assumed) write_to_stderr(fmt::format("assumed: {}\n", assumed));
  write_file_atomically(arguments.output, text);
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("import", "Make a scenario from what other tools are told");
  verb->footer(kFooter);
  verb->require_subcommand(1);
  CLI::App* vllm = verb->add_subcommand("vllm", "Make a scenario from a command line of vLLM's server");
  vllm->add_option("command", arguments->command, "The command as one argument: \"vllm serve MODEL --flags\"")
      ->type_name("COMMAND")
      ->required();
  vllm->add_option("--model", arguments->model,
                   "Model of the catalogue, or a config.json, instead of the one the command names")
      ->type_name("NAME");
  vllm->add_option("--device", arguments->device, "Device of the catalogue; h100-sxm if not given")->type_name("NAME");
  vllm->add_option("--workload", arguments->workload, "Workload of the catalogue; chat-1k if not given")
      ->type_name("NAME");
  vllm->add_option("-o,--output", arguments->output, "File to write; - is stdout")
      ->type_name("FILE")
      ->capture_default_str();
  arguments->messages.add_options(*vllm);
  vllm->callback([arguments, &session] { session.exit_code = import_vllm(*arguments); });
}

}  // namespace llmscape::cli::import_verb
