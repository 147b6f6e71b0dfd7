// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/named_twice.hpp"
#include "sim/cli/observed_folder.hpp"
#include "sim/cli/observed_scenario.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/observe/alignment.hpp"
#include "sim/observe/pace.hpp"
#include "sim/observe/predicted.hpp"
#include "sim/observe/readers.hpp"
#include "sim/scenario/scenario_paths.hpp"
#include "traces/csv_header.hpp"

namespace llmscape::cli::observe_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(FILE is what a server, its client or its devices left, known by how it begins, or FORMAT:FILE:
  vllm-log    log of 'vllm serve'            sglang-log  log of SGLang's server
  vllm-bench  'vllm bench serve' result      guidellm    JSON export, one benchmark
  aiperf      profile_export*.json(l)        prometheus  scrapes of /metrics
  power-csv   nvidia-smi or DCGM             rows        any table, by --columns
Printed is what was observed; where a device (--device) and the log's settings, or --scenario, say what
was served, it is simulated, and compared. -o keeps observed.json, scenario.yaml and trace.jsonl.

Examples:
  llmscape observe server.log bench.json --device h100-sxm -o seen
  llmscape observe bench.json gpus.csv --scenario mine.yaml --max-error tpot.mean=10%
  llmscape observe rows:requests.csv --columns theirs.yaml --where "qps == 0.5" --scenario mine.yaml)";

struct Arguments {
  std::vector<std::string> files, set, limits;
  ObservedBase base;
  std::vector<std::string> gpus, columns;
  std::string where, host, folder, json, junit, markdown;
  bool fit = false, overwrite = false, include_invalid = false;
  Messages messages;
};

SourceRange typed(const std::string& option) { return {std::make_shared<const SourceText>(SourceText{option, ""})}; }

// Power and clocks of these devices alone; reports those that are not there.
void keep_devices(const std::vector<std::string>& names, observe::Observed& observed, Diagnostics& diagnostics) {
  std::set<std::string> there, asked(names.begin(), names.end()), missing = asked;
  for (const char* of_devices : {observe::quantity::kPower, observe::quantity::kClock}) {
    const auto found = observed.courses.find(of_devices);
    if (found == observed.courses.end()) continue;
    std::erase_if(found->second, [&](const auto& device) {
      // "0" is that device of every node, "0@n1.csv" or "0@HOST" of one.
      const std::string index = device.first.substr(0, device.first.find('@'));
      there.insert(device.first);
      missing.erase(device.first);
      missing.erase(index);
      return !asked.contains(device.first) && !asked.contains(index);
    });
  }
  if (diagnostics.has_errors()) return;  // a file that was not taken may have them
  for (const std::string& name : missing)
    diagnostics.error(typed("--gpus"), fmt::format("no power and no clock of a device {} was read", in_quotes(name)),
                      there.empty() ? "" : fmt::format("there are {}", fmt::join(there, ", ")));
}

observe::Observed read_all(const Arguments& arguments, Diagnostics& diagnostics) {
  observe::Observed observed;
  std::vector<std::string> tables, others;
  std::optional<Expression> where;
  if (!arguments.where.empty()) where = Expression::parse(arguments.where, {}, diagnostics);
  for (const std::string& file : arguments.files) {
    const std::size_t colon = file.find(':');
    const bool named = colon != file.npos && !fs::exists(file);
    const std::string format = named ? file.substr(0, colon) : "", path = named ? file.substr(colon + 1) : file;
    if (format == "rows" || (!named && !arguments.columns.empty() && traces::is_csv(path))) {
      tables.push_back(path);
    } else {
      others.push_back(path);
      observe::read_observed(path, format, observed, diagnostics);
    }
  }
  report_twice(others, diagnostics);
  if (arguments.columns.size() < 2) report_twice(tables, diagnostics);  // two mappings may each take a part of a table
  align_courses(observed);
  // Times of tables count from the first call already.
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::optional<fs::path> mapping;
    if (!arguments.columns.empty()) mapping = arguments.columns[std::min(i, arguments.columns.size() - 1)];
    observe::read_observed_table(tables[i], mapping, where, observed, diagnostics);
  }
  if (!arguments.gpus.empty()) keep_devices(arguments.gpus, observed, diagnostics);
  align_requests(observed);
  return observed;
}

std::string observed_text(const observe::Observed& observed) {
  std::string text;
  for (const auto& [name, value] : observed.settings) text += fmt::format("{}: {}\n", name, value);
  if (!observed.requests.empty()) text += fmt::format("requests: {}\n", observed.requests.size());
  const auto within = observe::ends_of_figures(observed);
  Table table(within.empty() ? std::vector<std::string>{"observed", "value"}
                             : std::vector<std::string>{"observed", "value", "within"});
  for (const auto& [name, value] : observe::figures(observed)) {
    std::vector<std::string> cells = {name, fmt::format("{:.4g}", value)};
    const auto ends = within.find(name);
    if (ends != within.end())
      cells.push_back(fmt::format("{:.4g} - {:.4g}: one bucket", ends->second.least, ends->second.most));
    else if (!within.empty()) cells.emplace_back();
    table.row(std::move(cells));
  }
  if (!table.empty()) text += '\n' + table.text();
  Table courses({"over time", "samples", "mean", "most"});
  for (const auto& [quantity, summary] : observe::over_time(observed))
    courses.row({quantity, fmt::format("{:.0f}", summary.samples), fmt::format("{:.4g}", summary.mean),
                 fmt::format("{:.4g}", summary.most)});
  return courses.empty() ? text : text + '\n' + courses.text();
}

std::vector<std::string> overrides_of(const Arguments& arguments, Diagnostics& diagnostics) {
  scenario::report_overridden(arguments.set, std::nullopt, diagnostics);
  std::vector<std::string> all;
  if (!arguments.host.empty())
    all = validation::read_host_constants(arguments.host, diagnostics).value_or(std::vector<std::string>{});
  all.insert(all.end(), arguments.set.begin(), arguments.set.end());
  return all;
}

std::optional<observe::Prediction> predicted(const YamlNode& tree, const fs::path& folder,
                                             const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  const auto scenario = scenario::read_scenario(tree, folder, overrides, std::nullopt, catalogs(), diagnostics);
  return scenario ? observe::predict(*scenario, diagnostics) : std::nullopt;
}

std::string trace_of(const observe::Observed& observed, const YamlNode& tree, const fs::path& folder,
                     const std::vector<std::string>& overrides) {
  Diagnostics unheard;  // a scenario that cannot be read says so where it is to run
  const auto scenario = scenario::read_scenario(tree, folder, overrides, std::nullopt, catalogs(), unheard);
  return observe::trace_text(observed, scenario ? observe::longest_sequence(*scenario) : 0);
}

// Whether the scenario has what --fit-host fits: other devices than GPUs have a host of their own kind.
bool takes_host_constants(const YamlNode& tree, const fs::path& folder, std::vector<std::string> overrides) {
  for (const std::string& each : validation::HostConstants().overrides()) overrides.push_back(each);
  Diagnostics probe;
  return scenario::read_scenario(tree, folder, overrides, std::nullopt, catalogs(), probe).has_value();
}

// Three constants fitted to the first half of the requests; what they do to the second is told beside what it was.
validation::HostConstants fit(const observe::Observed& observed, const YamlNode& tree, const fs::path& folder,
                              const std::vector<std::string>& overrides, std::vector<validation::GroupErrors>& scored,
                              Diagnostics& diagnostics) {
  const std::size_t all = observed.requests.size(), half = all / 2;
  const auto errors = [&](const validation::HostConstants* constants, std::size_t from, std::size_t to) {
    std::vector<std::string> with = overrides;
    if (constants)
      for (const std::string& each : constants->overrides()) with.push_back(each);
    const auto prediction = predicted(tree, folder, with, diagnostics);
    return prediction ? observe::compare_requests(observed, *prediction, from, to)
                      : std::vector<validation::Comparison>();
  };
  const auto best = validation::fit_host_constants([&](const validation::HostConstants& constants) {
    double loss = 0;
    for (const auto& c : errors(&constants, 0, half)) {
      if (c.metric == "e2e") continue;
      for (const validation::Statistic& statistic : c.statistics)
        if (statistic.name != "p99" && statistic.predicted > 0 && statistic.measured > 0)
          loss += validation::log_loss(statistic.predicted, statistic.measured);
      // Request by request: which of them a long prompt delays tells a cost of tokens from one of calls.
      loss += validation::log_loss(1 + c.error_mean.value_or(0), 1);
    }
    return loss;
  });
  scored.push_back({"second half, without", errors(nullptr, half, all)});
  scored.push_back({"second half, fitted", errors(&best, half, all)});
  return best;
}

std::string host_file(const validation::HostConstants& constants) {
  std::string text =
      "schema: host_constants/1\nsource: fitted end to end to the first half of the requests of one run\nset:\n";
  for (const std::string& each : constants.overrides()) {
    const std::size_t equals = each.find('=');
    text += fmt::format("  \"{}\": {}\n", each.substr(0, equals), each.substr(equals + 1));
  }
  return text;
}

void keep(ObservedFolder& folder, const Arguments& arguments, const observe::Observed& observed,
          std::optional<YamlNode>& tree, const std::vector<std::string>& overrides,
          const std::optional<validation::HostConstants>& constants, Diagnostics& diagnostics) {
  std::optional<std::string> scenario, host;
  std::vector<fs::path> reads = {arguments.host};
  if (tree) {
    for (const std::string& each : overrides) apply_override(*tree, each, diagnostics);
    scenario::visit_paths(*tree, folder.path(),
                          [&reads](const YamlNode& path, const fs::path& from) { reads.push_back(from / path.text); });
    scenario = write_yaml(*tree);
  }
  if (constants) host = host_file(*constants);
  folder.keep(observe::to_json(observed), scenario, host, reads);
}

int observe_verb(const Arguments& arguments) {
  Diagnostics diagnostics;
  const observe::Observed observed = read_all(arguments, diagnostics);
  const std::vector<std::string> overrides = overrides_of(arguments, diagnostics);
  const std::vector<validation::Limit> limits = validation::parse_limits(arguments.limits, diagnostics);
  ObservedFolder work(arguments.folder);
  work.report_foreign(arguments.overwrite, diagnostics);
  std::vector<std::string> notes = observed.notes;
  std::optional<YamlNode> tree;
  if (!diagnostics.has_errors()) tree = observed_scenario(observed, arguments.base, work.path(), notes, diagnostics);
  if (!diagnostics.has_errors() && !tree && (!limits.empty() || arguments.fit))
    diagnostics.error({}, "nothing says what was served, so nothing can be predicted",
                      "name the device (--device) beside a log that has the model, or a --scenario");
  else if (!tree && (!arguments.base.device.empty() || !arguments.base.model.empty() || !overrides.empty()))
    notes.emplace_back(
        "nothing is predicted: what was served takes --device beside a log that has the model, or a --scenario");
  if (arguments.fit && observed.requests.size() < 2)
    diagnostics.error(typed("--fit-host"), "host constants are fitted to requests, and none was read");
  if (diagnostics.has_errors()) {
    arguments.messages.show(diagnostics);
    return kUsage;
  }
  if (tree) work.make();
  if (!observed.requests.empty() && tree) work.write_trace(trace_of(observed, *tree, work.path(), overrides));

  validation::Report report;
  report.predicted = "prediction";
  report.measured = "what was observed";
  std::optional<validation::HostConstants> constants;
  if (tree) {
    const bool has_workload = tree->find("workload") != nullptr;
    if (!has_workload) notes.push_back("no requests were read: there is nothing to replay, and nothing is predicted");
    else if (const auto prediction = predicted(*tree, work.path(), overrides, diagnostics)) {
      observe::compare(observed, *prediction, !observed.requests.empty(), report);
      if (arguments.fit && report.run->lacks_requests() && !arguments.include_invalid)
        diagnostics.error(
            typed("--fit-host"),
            fmt::format("{} of the requests that the server had are not in the replay: the constants would "
                        "be fitted to what those cost",
                        report.run->left_out),
            "--include-invalid fits them all the same");
      else if (arguments.fit && !takes_host_constants(*tree, work.path(), overrides))
        diagnostics.error(typed("--fit-host"), "this device has no constants of a host that could be fitted");
      else if (arguments.fit) constants = fit(observed, *tree, work.path(), overrides, report.groups, diagnostics);
    }
  }
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  const bool met = validation::hold_to(limits, report, arguments.include_invalid);
  if (work.is_users()) keep(work, arguments, observed, tree, overrides, constants, diagnostics);
  if (!arguments.json.empty()) write_file_atomically(arguments.json, validation::to_json(report));
  if (!arguments.markdown.empty()) write_file_atomically(arguments.markdown, validation::to_markdown(report));
  if (!arguments.junit.empty()) write_file_atomically(arguments.junit, validation::to_junit(report, "observe"));
  if (is_stdout(arguments.json) || is_stdout(arguments.junit) || is_stdout(arguments.markdown))
    return met ? kDone : kFailed;
  std::fputs(observed_text(observed).c_str(), stdout);
  for (const std::string& note : notes) fmt::print("{}\n", note);
  if (report.run || !report.verdicts.empty()) fmt::print("\n{}", validation::to_text(report));
  if (const auto bound = observe::bound_by_host(report.comparisons)) fmt::print("\n{}\n", observe::in_words(*bound));
  if (constants)
    fmt::print("\nfitted end to end: {:g} ms in every prefill step, {:g} ms a call and {:g} us a prompt token\n",
               constants->per_prefill_step_ms, constants->per_call_ms, constants->per_token_us);
  return met ? kDone : kFailed;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("observe", "Read what a server left, and put a prediction beside it");
  verb->footer(kFooter);
  verb->add_option("files", arguments->files, "Logs, exports, scrapes, tables")->type_name("FILE")->required();
  CLI::Option* device =
      verb->add_option("--device", arguments->base.device, "Device of the catalogue, or a file, that the server ran on")
          ->type_name("NAME");
  CLI::Option* model = verb->add_option("--model", arguments->base.model,
                                        "Model of the catalogue, or a config.json, instead of the log's")
                           ->type_name("NAME");
  verb->add_option(
          "--scenario", arguments->base.scenario,
          "What was served, instead of the log's settings; its workload is the requests that were read, if any")
      ->type_name("FILE")
      ->check(CLI::ExistingFile.description(""))
      ->excludes(device)
      ->excludes(model);
  verb->add_option("--set", arguments->set, "Lay a value over the scenario's. Repeatable")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--host", arguments->host, "Constants of the host (schema host_constants/1)")->type_name("FILE");
  verb->add_option("--columns", arguments->columns,
                   "How columns of tables are read (schema rows/1); the first is of the first table, the last of the "
                   "rest. Repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->add_option("--where", arguments->where, "Only rows of tables for which this holds")->type_name("EXPRESSION");
  verb->add_option("--gpus", arguments->gpus, "Power and clocks of these devices alone: 0,1")
      ->type_name("INDEX,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_flag("--fit-host", arguments->fit,
                 "Fit three constants of the host to the first half of the requests, and score them on the second");
  verb->add_option("-o,--output", arguments->folder, "Folder for observed.json, scenario.yaml, trace.jsonl, host.yaml")
      ->type_name("DIR");
  verb->add_flag(kOverwrite, arguments->overwrite, kOverwriteText)->needs("--output");
  verb->add_option("--max-error", arguments->limits, "Fail where this error is larger: tpot.mean=3%. Repeatable")
      ->type_name("LIMIT")
      ->allow_extra_args(false);
  verb->add_flag(
      "--include-invalid", arguments->include_invalid,
      "Limits are held by runs, too, that are unsteady, saturated or truncated, or served a part of the requests");
  verb->add_option("--json", arguments->json, "Write the comparison as JSON too (schema validation/1)")
      ->type_name("FILE");
  verb->add_option("--junit", arguments->junit, "Write limits as JUnit XML, for a CI server")->type_name("FILE");
  verb->add_option("--markdown", arguments->markdown, "Write the tables as Markdown too")->type_name("FILE");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = observe_verb(*arguments); });
}

}  // namespace llmscape::cli::observe_verb
