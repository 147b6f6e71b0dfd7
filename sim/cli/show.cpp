// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "base/table.hpp"
#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/command_tree.hpp"
#include "sim/cli/description.hpp"
#include "sim/cli/field_tables.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/model_card.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/scenario/written.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(WHAT is an entry of a catalogue (h100-sxm, or hardware/h100-sxm, model/llama-3.1-8b,
workload/chat-1k), a file, or 'fields NAME': what can be written there ('fields' alone lists the
names). Behind each value stands where it comes from.

Examples:
  llmscape show hardware/h100-sxm
  llmscape show scenario.yaml
  llmscape show fields device
  llmscape show fields batcher)";

// A text, or nothing after reporting.
using Text = std::optional<std::string>;

Text shown(const std::optional<YamlNode>& tree) { return tree ? Text(annotated(*tree)) : std::nullopt; }
Text shown(const std::optional<models::ModelSpec>& model) { return model ? Text(model_card(*model)) : std::nullopt; }

SourceRange typed(const std::string& text) { return {std::make_shared<const SourceText>(SourceText{text, ""})}; }

Text show_entry(FileKind kind, std::string_view name, const SourceRange& where, Diagnostics& diagnostics) {
  const scenario::Catalogs all = catalogs();
  if (kind == FileKind::model) return shown(models::load_model(all.models, name, where, diagnostics));
  const bool device = kind == FileKind::device;
  auto tree = catalog_entry(device ? all.hardware : all.workloads, name_of(kind), name, where, diagnostics);
  if (!tree) return std::nullopt;
  return shown(device ? complete_device(std::move(*tree), all, diagnostics)
                      : complete_workload(std::move(*tree), diagnostics));
}

Text show_file(const fs::path& file, Diagnostics& diagnostics) {
  const FileKind kind = kind_of(file);
  switch (kind) {
    case FileKind::scenario: {
      const auto scenario = scenario::load_scenario(file, {}, std::nullopt, catalogs(), diagnostics);
      return scenario ? Text(annotated(scenario::written(*scenario))) : std::nullopt;
    }
    case FileKind::model: return shown(models::load_model_file(file, diagnostics));
    case FileKind::trace:
      diagnostics.error(typed(file.string()), "this is no description", "see 'llmscape trace describe'");
      return std::nullopt;
    case FileKind::sweep:
      diagnostics.error(typed(file.string()), "this is the plan of a sweep", "see 'llmscape sweep --list'");
      return std::nullopt;
    case FileKind::study:
      diagnostics.error(typed(file.string()), "this is a study", "see 'llmscape reproduce'");
      return std::nullopt;
    default: break;
  }
  auto tree = read_description(file, kind, diagnostics);
  if (!tree) return std::nullopt;
  if (kind == FileKind::device) return shown(complete_device(std::move(*tree), catalogs(), diagnostics));
  if (kind == FileKind::workload) return shown(complete_workload(std::move(*tree), diagnostics));
  return shown(complete_part(std::move(*tree), kind, diagnostics));
}

// A name without its catalogue.
Text show_name(const std::string& name, Diagnostics& diagnostics) {
  const scenario::Catalogs all = catalogs();
  std::vector<std::string> names;
  for (const auto& [kind, found] : {std::pair(FileKind::device, catalog_names(all.hardware)),
                                    std::pair(FileKind::model, models::model_names(all.models)),
                                    std::pair(FileKind::workload, catalog_names(all.workloads))}) {
    if (std::ranges::find(found, name) != found.end()) return show_entry(kind, name, typed(name), diagnostics);
    names.insert(names.end(), found.begin(), found.end());
  }
  diagnostics.error(typed(name), "there is no file and no entry of a catalogue of that name",
                    did_you_mean(name, names));
  return std::nullopt;
}

Text show(const std::string& what, Diagnostics& diagnostics) {
  if (fs::exists(what)) return show_file(what, diagnostics);
  const std::size_t slash = what.find('/');
  const std::string catalog = what.substr(0, slash);
  for (const auto& [name, kind] : {std::pair("hardware", FileKind::device), std::pair("model", FileKind::model),
                                   std::pair("workload", FileKind::workload)})
    if (slash != std::string::npos && catalog == name)
      return show_entry(kind, what.substr(slash + 1), typed(what), diagnostics);
  return show_name(what, diagnostics);
}

Text show_fields(const std::string& name, Diagnostics& diagnostics) {
  const std::vector<std::string> names = field_table_names();
  if (name.empty()) return field_table_list().text(terminal_width(stdout));
  std::string text = field_tables(name);
  if (!text.empty()) return text;
  diagnostics.error(typed(name), "nothing has fields under that name; 'llmscape show fields' lists what has",
                    did_you_mean(name, names));
  return std::nullopt;
}

}  // namespace

void add_show(CLI::App& app, Session& session) {
  auto what = std::make_shared<std::vector<std::string>>();
  auto messages = std::make_shared<Messages>();
  CLI::App* verb =
      app.add_subcommand("show", "Show a device, model, workload or scenario with the origin of each value");
  verb->footer(kFooter);
  CLI::Option* option = verb->add_option("what", *what, "What to show")->type_name("WHAT")->required()->expected(1, 2);
  suggest(*option, {"fields", "hardware/", "model/", "workload/"}, true);
  messages->add_options(*verb);
  verb->callback([what, messages, &session] {
    const bool fields = what->front() == "fields";
    if (!fields && what->size() > 1) throw CLI::ExtrasError({what->back()});
    Diagnostics diagnostics;
    const Text text =
        fields ? show_fields(what->size() > 1 ? what->back() : "", diagnostics) : show(what->front(), diagnostics);
    messages->show(diagnostics);
    if (text) std::fputs(text->c_str(), stdout);
    session.exit_code = text ? kDone : kUsage;
  });
}

}  // namespace llmscape::cli
