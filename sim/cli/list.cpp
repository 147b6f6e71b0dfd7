// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/catalog.hpp"
#include "base/table.hpp"
#include "models/catalog.hpp"
#include "models/token_plan.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/command_tree.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/studies/study.hpp"
#include "traces/request_trace.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli::list_verb {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmscape list devices
  llmscape list models
  llmscape list metrics)";

// The entries of a catalogue with what stands under some keys of each: texts and values, without tag and source.
Table described(const std::filesystem::path& folder, std::string_view kind, const std::vector<std::string>& keys,
                Diagnostics& diagnostics) {
  std::vector<std::string> head{std::string(kind)};
  for (std::string key : keys) {
    std::ranges::replace(key, '_', ' ');
    head.push_back(std::move(key));
  }
  Table table(std::move(head));
  for (const std::string& name : catalog_names(folder)) {
    const auto tree = catalog_entry(folder, kind, name, {}, diagnostics);
    std::vector<std::string> cells{name};
    for (const std::string& key : keys) {
      const YamlNode* value = tree ? tree->find(key) : nullptr;
      if (value && value->is_mapping()) value = value->find("value");
      cells.push_back(value ? value->text : "");
    }
    table.row(std::move(cells));
  }
  return table;
}

Table devices(Diagnostics& diagnostics) {
  return described(catalogs().hardware, "device", {"description"}, diagnostics);
}

Table hosts(Diagnostics& diagnostics) {
  return described(catalogs().hardware / "hosts", "host", {"description"}, diagnostics);
}

Table drams(Diagnostics& diagnostics) {
  return described(catalogs().hardware / "dram", "dram", {"description"}, diagnostics);
}

Table nodes(Diagnostics& diagnostics) {
  return described(catalogs().hardware / "nodes", "node",
                   {"devices", "port", "port_latency", "uplink", "uplink_latency", "adapter"}, diagnostics);
}

Table links(Diagnostics& diagnostics) {
  return described(catalogs().hardware / "links", "link", {"uplink", "latency"}, diagnostics);
}

Table tiers(Diagnostics& diagnostics) {
  return described(catalogs().hardware / "tiers", "tier",
                   {"capacity", "read", "write", "latency", "device_link", "shared_by"}, diagnostics);
}

Table workload_entries(Diagnostics& diagnostics) {
  return described(catalogs().workloads, "workload", {"source"}, diagnostics);
}

Table study_entries(Diagnostics& diagnostics) {
  Table table({"study", "title"});
  for (const std::string& name : studies::study_names(studies_folder()))
    if (const auto study = studies::read_study(studies_folder() / name / "study.yaml", diagnostics))
      table.row({name, study->title});
  return table;
}

Table model_entries(Diagnostics& diagnostics) {
  Table table({"model", "parameters", "weights", "longest context", "source"});
  const std::filesystem::path folder = catalogs().models;
  for (const std::string& name : models::model_names(folder)) {
    // What is not modelled of one is said where it is used and by 'show'.
    Diagnostics own;
    const auto model = models::load_model(folder, name, {}, own);
    if (!model) models::load_model(folder, name, {}, diagnostics);
    else
      table.row({name, fmt::format("{:.3g} billion", static_cast<double>(models::parameters(*model)) / 1e9),
                 model->precision.weights.name, std::to_string(model->max_position), model->source});
  }
  return table;
}

template <class Base>
Table kinds(const Family<Base>& family) {
  Table table({family.info().tag, "what it is"});
  for (const auto& member : family.members()) table.row({member.name, member.text});
  return table;
}

Table batcher_kinds(Diagnostics&) { return kinds(serving::batchers()); }
Table token_plan_kinds(Diagnostics&) { return kinds(models::token_plans()); }
Table router_kinds(Diagnostics&) { return kinds(serving::routers()); }
Table controller_kinds(Diagnostics&) { return kinds(serving::controllers()); }
Table arrival_kinds(Diagnostics&) { return kinds(workloads::arrivals()); }
Table stream_kinds(Diagnostics&) { return kinds(workloads::streams()); }

Table trace_formats(Diagnostics&) {
  Table table({"format", "what it is"});
  for (const traces::TraceFormat& format : traces::trace_formats())
    table.row({std::string(format.name), std::string(format.text)});
  return table;
}

Table metric_names(Diagnostics&) {
  Table table({"metric", "unit", "better", "vLLM", "AIPerf", "definition"});
  constexpr std::array<std::string_view, 3> kBetter = {"higher", "lower", ""};
  for (const metrics::Metric& m : metrics::metrics())
    table.row({std::string(m.key), std::string(m.unit), std::string(kBetter[static_cast<std::size_t>(m.better)]),
               std::string(m.vllm), std::string(m.aiperf), std::string(m.text)});
  return table;
}

struct Listing {
  const char* name;
  Table (*table)(Diagnostics&);
};
constexpr std::array kListings = {
    Listing{"devices", devices},
    Listing{"drams", drams},
    Listing{"hosts", hosts},
    Listing{"nodes", nodes},
    Listing{"links", links},
    Listing{"tiers", tiers},
    Listing{"models", model_entries},
    Listing{"workloads", workload_entries},
    Listing{"studies", study_entries},
    Listing{"batchers", batcher_kinds},
    Listing{"routers", router_kinds},
    Listing{"token_plans", token_plan_kinds},
    Listing{"controllers", controller_kinds},
    Listing{"arrivals", arrival_kinds},
    Listing{"streams", stream_kinds},
    Listing{"metrics", metric_names},
    Listing{"formats", trace_formats},
};

}  // namespace

void add(CLI::App& app, Session& session) {
  struct Arguments {
    std::string what, format = "table";
    Messages messages;
  };
  auto arguments = std::make_shared<Arguments>();
  std::vector<std::string> names;
  for (const Listing& listing : kListings) names.emplace_back(listing.name);
  CLI::App* verb =
      app.add_subcommand("list", "List what there is: entries of the catalogues, policies, metrics, trace formats");
  verb->footer(kFooter);
  CLI::Option* what = verb->add_option("what", arguments->what, fmt::format("One of {}", fmt::join(names, ", ")))
                          ->type_name("WHAT")
                          ->required();
  suggest(*what, names, false);
  verb->add_option("--format", arguments->format, "What to print: table (cut to the terminal) or markdown (whole)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "markdown"}))
      ->capture_default_str();
  arguments->messages.add_options(*verb);
  verb->callback([arguments, names, &session] {
    const auto chosen = std::ranges::find(kListings, arguments->what, &Listing::name);
    Diagnostics diagnostics;
    if (chosen == kListings.end()) {
      diagnostics.error(
          {}, fmt::format("there is no list of {}; there are {}", in_quotes(arguments->what), fmt::join(names, ", ")),
          did_you_mean(arguments->what, names));
    } else {
      const Table table = chosen->table(diagnostics);
      const std::string text = arguments->format == "markdown" ? table.markdown() : table.text(terminal_width(stdout));
      std::fputs(text.c_str(), stdout);
    }
    arguments->messages.show(diagnostics);
    session.exit_code = diagnostics.has_errors() ? kUsage : kDone;
  });
}

}  // namespace llmscape::cli::list_verb
