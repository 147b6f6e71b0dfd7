// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
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

namespace llmscape::cli::show_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(WHAT is an entry of a catalogue (h100-sxm, or hardware/h100-sxm, models/llama-3.1-8b,
workloads/chat-1k, nodes/dgx-h100, links/5g, tiers/nvme, hosts/xeon-8480-2s, dram/lpddr5), a file,
or 'fields NAME': what can be written there ('fields' alone lists the names). Behind each value
stands where it comes from.

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

// The catalogues by the name that may stand before that of an entry: `nodes/dgx-h100`.
struct NamedCatalog {
  std::string_view name;
  FileKind kind;
  std::string_view folder = name;  // where its entries stand, which may be written as well
};
constexpr std::array kNamedCatalogs = {NamedCatalog{"hardware", FileKind::device},
                                       NamedCatalog{"model", FileKind::model, "models"},
                                       NamedCatalog{"workload", FileKind::workload, "workloads"},
                                       NamedCatalog{"nodes", FileKind::node},
                                       NamedCatalog{"links", FileKind::link},
                                       NamedCatalog{"tiers", FileKind::tier},
                                       NamedCatalog{"hosts", FileKind::host},
                                       NamedCatalog{"dram", FileKind::dram}};

fs::path folder_of_catalog(const NamedCatalog& catalog, const scenario::Catalogs& all) {
  switch (catalog.kind) {
    case FileKind::device: return all.hardware;
    case FileKind::model: return all.models;
    case FileKind::workload: return all.workloads;
    default: return all.hardware / catalog.name;
  }
}

Text show_entry(const NamedCatalog& catalog, std::string_view name, const SourceRange& where,
                Diagnostics& diagnostics) {
  const scenario::Catalogs all = catalogs();
  if (catalog.kind == FileKind::model) return shown(models::load_model(all.models, name, where, diagnostics));
  auto tree = catalog_entry(folder_of_catalog(catalog, all), name_of(catalog.kind), name, where, diagnostics);
  if (!tree) return std::nullopt;
  if (catalog.kind == FileKind::device) return shown(complete_device(std::move(*tree), all, diagnostics));
  if (catalog.kind == FileKind::workload) return shown(complete_workload(std::move(*tree), diagnostics));
  return shown(complete_part(std::move(*tree), catalog.kind, diagnostics));
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
  for (const NamedCatalog& catalog : kNamedCatalogs) {
    const std::filesystem::path folder = folder_of_catalog(catalog, all);
    const std::vector<std::string> found =
        catalog.kind == FileKind::model ? models::model_names(folder) : catalog_names(folder);
    if (std::ranges::find(found, name) != found.end()) return show_entry(catalog, name, typed(name), diagnostics);
    names.insert(names.end(), found.begin(), found.end());
  }
  diagnostics.error(typed(name), "there is no file and no entry of a catalogue of that name",
                    did_you_mean(name, names));
  return std::nullopt;
}

Text show(const std::string& what, Diagnostics& diagnostics) {
  if (fs::exists(what)) return show_file(what, diagnostics);
  const std::size_t slash = what.find('/');
  const std::string before = what.substr(0, slash);
  for (const NamedCatalog& catalog : kNamedCatalogs)
    if (slash != std::string::npos && (before == catalog.name || before == catalog.folder))
      return show_entry(catalog, what.substr(slash + 1), typed(what), diagnostics);
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

void add(CLI::App& app, Session& session) {
  auto what = std::make_shared<std::vector<std::string>>();
  auto messages = std::make_shared<Messages>();
  CLI::App* verb =
      app.add_subcommand("show", "Show an entry of a catalogue or a scenario with the origin of each value");
  verb->footer(kFooter);
  CLI::Option* option = verb->add_option("what", *what, "What to show")->type_name("WHAT")->required()->expected(1, 2);
  suggest(*option, {"fields", "hardware/", "models/", "workloads/", "nodes/", "links/", "tiers/", "hosts/", "dram/"},
          true);
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

}  // namespace llmscape::cli::show_verb
