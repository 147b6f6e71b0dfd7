// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process_pool.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/validate_rows.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/report.hpp"
#include "sim/validation/rows.hpp"
#include "sim/validation/steps.hpp"
#include "traces/cells.hpp"
#include "traces/csv_header.hpp"

namespace llmscape::cli::validate_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(PREDICTED and MEASURED are one of these pairs; --against can be repeated:
  a folder of 'run -o DIR --requests'  requests.jsonl of a vLLM run: queueing, TTFT, TPOT, E2E
                                       a table t,running,waiting: both over time
                                       a record of 'llmscape engine': its requests and its steps
  a device: a file, or its name        a record of 'llmscape engine': steps and arrivals
  a table NAME,METRIC,...              a table of the same form: each metric that both have
A limit is METRIC.FIGURE=VALUE. Figures: mean, p50, p90, p99 (of all predicted against all measured
values), error_mean, error_median, error_p90, error_p95, bias (of the pairs), rank (1 - Spearman's);
of running and waiting: rmse. Of several MEASURED the worst counts. Exit code 1 when a limit is
exceeded or its metric was not compared.

Examples:
  llmscape validate out --against requests.jsonl --max-error tpot.mean=3% --max-error ttft.mean=10%
  llmscape validate my-cpu.yaml --against engine.json --max-error step.error_median=10%
  llmscape validate predicted.csv --against measured.csv --markdown accuracy.md
  llmscape validate --deployments rows.csv --by engine,model --max-error tpot.error_median=10%)";

struct Arguments {
  std::string predicted, json, markdown;
  std::string junit;
  std::vector<std::string> measured, limits;
  RowArguments rows;
  Messages messages;
};

SourceRange typed(const std::string& text) { return {std::make_shared<const SourceText>(SourceText{text, ""})}; }

template <class T>
void append(std::vector<T>& to, std::optional<std::vector<T>> from) {
  if (from) to.insert(to.end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
}

// The first line that is not blank: what kind of file this is.
std::string first_line(const fs::path& path) {
  LineReader lines(path);
  while (const auto line = lines.next())
    if (line->find_first_not_of(" \t") != line->npos) return std::string(*line);
  return "";
}

enum class Measured { requests, engine, loads, rows };
Measured kind_of_measured(const fs::path& path) {
  const std::string line = first_line(path);
  // A log of requests has a whole object a line; a record is one object, on one line or on many.
  const bool whole = line.ends_with('}') && line.find(R"("llmscape.engine/)") == line.npos;
  if (line.starts_with('{')) return whole ? Measured::requests : Measured::engine;
  std::vector<traces::Span> cells;
  traces::split_cells(line, cells);
  const auto is_time = [&line](const traces::Span& cell) { return traces::text_of_cell(line, cell) == "t"; };
  return std::ranges::any_of(cells, is_time) ? Measured::loads : Measured::rows;
}

void price_steps(const traces::EngineRecord& record, const scenario::Scenario& scenario, validation::Report& report) {
  const scenario::ServingConfig& serving = scenario.config.serving;
  const auto model = engine::bind(*scenario.config.hardware.devices.front(), scenario.model, serving.plan(),
                                  scenario::settings_of(serving));
  append(report.comparisons, {validation::compare_steps(record, *model, models::kv_laws(scenario.model))});
  append(report.warnings, {model->range_warnings()});
}

// What a run left behind against whatever was measured of the same requests.
void against_run(const fs::path& folder, const std::string& measured, validation::Report& report,
                 Diagnostics& diagnostics) {
  auto predicted = validation::read_request_times((folder / "requests.jsonl").string(), diagnostics);
  if (!predicted) return;
  switch (kind_of_measured(measured)) {
    case Measured::loads:
      if (const auto loads = validation::read_loads(measured, diagnostics))
        append(report.courses, {validation::compare_loads(*predicted, *loads)});
      return;
    case Measured::requests:
      if (auto times = validation::read_request_times(measured, diagnostics)) {
        append(report.courses, {validation::compare_loads(*predicted, validation::loads(*times))});
        append(report.comparisons,
               validation::compare_requests(std::move(*predicted), std::move(*times), typed(measured), diagnostics));
      }
      return;
    case Measured::engine:
      if (const auto record = traces::read_engine_record(measured, diagnostics)) {
        append(report.comparisons,
               validation::compare_requests(std::move(*predicted), validation::request_times(*record), typed(measured),
                                            diagnostics));
        const auto scenario =
            scenario::load_scenario(folder / "scenario.resolved.yaml", {}, std::nullopt, catalogs(), diagnostics);
        if (scenario) price_steps(*record, *scenario, report);
      }
      return;
    case Measured::rows: break;
  }
  diagnostics.error(
      typed(measured),
      "a run is compared with requests, loads over time (a table with the columns t, running and waiting) or an "
      "engine's record");
}

std::optional<YamlNode> device_entry(const std::string& what, Diagnostics& diagnostics) {
  if (fs::exists(what)) return read_description(what, FileKind::device, diagnostics);
  YamlNode device = YamlNode::mapping(typed(what));
  device.set("preset", YamlNode::scalar(what)).where = typed(what);
  return device;
}

// The steps of an engine's record priced on the device, and its arrivals replayed there.
void against_device(const std::string& device, const std::string& measured, validation::Report& report,
                    Diagnostics& diagnostics) {
  if (kind_of_measured(measured) != Measured::engine)
    diagnostics.error(typed(measured), "a device is compared with a record of 'llmscape engine'");
  auto entry = device_entry(device, diagnostics);
  if (diagnostics.has_errors()) return;
  const auto record = traces::read_engine_record(measured, diagnostics);
  if (!record) return;
  const validation::Replay replay(*record, std::move(*entry), catalogs(), diagnostics);
  if (!replay.scenario()) return;
  price_steps(*record, *replay.scenario(), report);
  if (auto simulated = validation::simulate(*replay.scenario(), diagnostics)) {
    const auto energy = validation::compare_energy(simulated->result, *record);
    // The record counts from arrivals, which an engine reads between its steps.
    for (validation::RequestTimes& request : simulated->requests) request.queued = request.arrival;
    append(report.comparisons,
           validation::compare_requests(std::move(simulated->requests), validation::request_times(*record),
                                        typed(measured), diagnostics));
    append(report.comparisons, std::optional(energy));
  }
}

void against_rows(const std::string& predicted, const std::string& measured, validation::Report& report,
                  Diagnostics& diagnostics) {
  const auto ours = validation::read_rows(predicted, diagnostics),
             theirs = validation::read_rows(measured, diagnostics);
  if (ours && theirs)
    append(report.comparisons, validation::compare_rows(*ours, *theirs, typed(measured), diagnostics));
}

bool is_table(const fs::path& path) { return fs::is_regular_file(path) && traces::is_csv(path); }

void add(const Arguments& arguments, const std::string& measured, validation::Report& report,
         Diagnostics& diagnostics) {
  if (!fs::is_regular_file(measured)) diagnostics.error(typed(measured), "there is no such file");
  else if (fs::is_directory(arguments.predicted)) against_run(arguments.predicted, measured, report, diagnostics);
  else if (is_table(arguments.predicted)) against_rows(arguments.predicted, measured, report, diagnostics);
  else against_device(arguments.predicted, measured, report, diagnostics);
}

int validate(const Arguments& arguments) {
  Diagnostics diagnostics;
  validation::Report report;
  report.predicted = arguments.predicted;
  const std::vector<validation::Limit> limits = validation::parse_limits(arguments.limits, diagnostics);
  if (arguments.rows.given()) validate_rows(arguments.rows, report, diagnostics);
  else if (arguments.predicted.empty() || arguments.measured.empty())
    diagnostics.error(typed("validate"), "needs PREDICTED and --against, or --deployments or --batches");
  for (const std::string& measured : arguments.measured) {
    report.measured += (report.measured.empty() ? "" : " and ") + measured;
    const std::size_t comparisons = report.comparisons.size(), courses = report.courses.size();
    add(arguments, measured, report, diagnostics);
    if (arguments.measured.size() < 2) continue;
    for (auto& comparison : std::span(report.comparisons).subspan(comparisons)) comparison.of = measured;
    for (auto& course : std::span(report.courses).subspan(courses)) course.of = measured;
  }
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  const bool met = validation::hold_to(limits, report);
  if (!arguments.json.empty()) write_file_atomically(arguments.json, validation::to_json(report));
  if (!arguments.junit.empty()) write_file_atomically(arguments.junit, validation::to_junit(report, "validate"));
  if (!arguments.markdown.empty()) write_file_atomically(arguments.markdown, validation::to_markdown(report));
  if (!is_stdout(arguments.json) && !is_stdout(arguments.junit) && !is_stdout(arguments.markdown))
    std::fputs(validation::to_text(report).c_str(), stdout);
  return met ? kDone : kFailed;
}

void add_row_options(CLI::App& verb, RowArguments& rows, CLI::Option* predicted, CLI::Option* against) {
  CLI::Option* deployments =
      verb.add_option("--deployments", rows.deployments, "Instead: a table of deployments under load, each simulated")
          ->type_name("TABLE")
          ->excludes(predicted)
          ->excludes(against);
  verb.add_option("--batches", rows.batches, "Instead: a table of batches that are submitted at once")
      ->type_name("TABLE")
      ->excludes(predicted)
      ->excludes(against)
      ->excludes(deployments);
  verb.add_option("--columns", rows.columns, "How the table's columns are read (schema rows/1)")->type_name("FILE");
  verb.add_option("--host", rows.host, "Constants of the host for all rows (schema host_constants/1)")
      ->type_name("FILE");
  verb.add_option("--by", rows.by, "Errors and ranks of rows that are alike in these columns too")
      ->type_name("COLUMN,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  rows.jobs = default_jobs();
  verb.add_option("-j,--jobs", rows.jobs, "Rows that are simulated at once")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->default_str("the processors of this machine");
  for (const char* of_rows : {"--columns", "--host", "--by", "--jobs"})
    verb.get_option(of_rows)->excludes(predicted)->excludes(against);
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("validate", "Compare predictions with measurements and hold them to limits");
  verb->footer(kFooter);
  CLI::Option* predicted =
      verb->add_option("predicted", arguments->predicted, "A folder of 'run -o', a device or a table")
          ->type_name("PREDICTED");
  CLI::Option* against = verb->add_option("--against", arguments->measured, "What was measured. Repeatable")
                             ->type_name("MEASURED")
                             ->allow_extra_args(false);
  add_row_options(*verb, arguments->rows, predicted, against);
  verb->add_option("--max-error", arguments->limits, "Fail where this error is larger: tpot.mean=3%. Repeatable")
      ->type_name("LIMIT")
      ->allow_extra_args(false);
  verb->add_option("--json", arguments->json, "Write the comparison as JSON too (schema validation/1)")
      ->type_name("FILE");
  verb->add_option("--junit", arguments->junit, "Write limits and rows left out as JUnit XML, for a CI server")
      ->type_name("FILE");
  verb->add_option("--markdown", arguments->markdown, "Write the tables as Markdown too")->type_name("FILE");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = validate(*arguments); });
}

}  // namespace llmscape::cli::validate_verb
