// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "sim/cli/class_rows.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/explore/baseline.hpp"
#include "sim/observe/predicted.hpp"
#include "sim/report/check_report.hpp"
#include "sim/report/junit.hpp"
#include "sim/report/result_file.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::cli::check_verb {
namespace {

constexpr const char* kFooter =
    R"(A metric is SAME within its tolerance; beyond it BETTER or WORSE where the intervals of both
values over their repeats are apart, AMBIGUOUS where they overlap. A metric or configuration that
only one side has is WORSE, as is a result whose verdict is not 'valid'. Exits with 1 when anything
is WORSE. The baseline is a JSON file (schemas/baseline.schema.json) in which tolerances may be
edited; --update keeps them.

Examples:
  llmscape check out --baseline baseline.json --update
  llmscape check out --baseline baseline.json
  llmscape check out --baseline baseline.json --metrics ttft.p99,output_tokens_per_joule
  llmscape check out --baseline baseline.json --junit check.xml --markdown check.md
  llmscape check out --against seen/observed.json --max-error tpot.mean=10%)";

struct Arguments {
  std::string results, baseline, against, junit, markdown, format = "table";
  std::vector<std::string> metrics, limits;
  bool update = false, classes = false, quiet = false, include_invalid = false;
  Messages messages;
};

explore::MetricColumns columns_of(const std::vector<std::string>& names, Diagnostics& diagnostics) {
  explore::MetricColumns all;
  for (const std::string& name : names) {
    const explore::MetricColumns columns = metrics::find_columns(name);
    if (columns.empty())
      diagnostics.error({}, fmt::format("--metrics: unknown metric {}", in_quotes(name)),
                        "see 'llmscape list metrics'");
    all.insert(all.end(), columns.begin(), columns.end());
  }
  return all;
}

int update(const explore::ResultsTable& table, const std::optional<explore::Baseline>& before,
           const Arguments& arguments) {
  explore::Baseline start = before.value_or(explore::Baseline{});
  start.tool = fmt::format("llmscape {} {}", version().number, version().revision);
  if (!arguments.metrics.empty()) start.metrics = arguments.metrics;
  Diagnostics diagnostics;
  const explore::Baseline baseline = explore::baseline_of(table, start, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kFailed;
  write_file_atomically(arguments.baseline, explore::baseline_json(baseline));
  if (is_stdout(arguments.baseline)) return kDone;
  std::size_t metrics = 0;
  for (const auto& configuration : baseline.configurations) metrics += configuration.metrics.size();
  fmt::print("{}: {} metrics of {} configurations\n", arguments.baseline, metrics, baseline.configurations.size());
  return kDone;
}

// What a run says of itself (schema run/1).
validation::PredictedRun run_of(const nlohmann::ordered_json& result) {
  using Json = nlohmann::ordered_json;
  const Json requests = result.value("requests", Json::object()), verdict = result.value("verdict", Json::object());
  const auto count = [&requests](const char* key) { return requests.value(key, std::int64_t{0}); };
  return {verdict.value("state", ""), verdict.value("reasons", std::vector<std::string>()), count("injected"),
          count("completed") + count("cancelled") + count("timed_out")};
}

// Where the run is of other calls, or of another machine, than those that were observed.
void set_apart(const observe::Figures& observed, const nlohmann::ordered_json& result, validation::PredictedRun& run) {
  using Json = nlohmann::ordered_json;
  run.left_out = observed.left_out + std::max<std::int64_t>(0, observed.requests - run.requests);
  observe::Served served{result.value("replicas", std::int64_t{0}), result.value("devices", std::int64_t{0}), 1,
                         result.contains("fleet")};
  for (const Json& pool : result.value("pools", Json::array()))
    served.ranks = std::max(served.ranks, pool.value("ranks", std::int64_t{1}));
  const auto told = observed.values.find("hit_rate");
  run.apart =
      observe::apart(observed.shown, served, told == observed.values.end() ? std::nullopt : std::optional(told->second),
                     result.value("kv", Json::object()).value("hit_rate", 0.0));
  // Calls that clients gave up have no answer that was measured.
  const Json requests = result.value("requests", Json::object());
  const std::int64_t given_up =
      requests.value("cancelled", std::int64_t{0}) + requests.value("timed_out", std::int64_t{0});
  if (const std::int64_t answered = observed.given_up - given_up; answered > 1 && 100 * answered > run.requests)
    run.apart.push_back(
        fmt::format("{} of {} calls that clients gave up were answered in the simulation, and are in its figures alone",
                    answered, observed.given_up));
}

// The metrics of a run, those of its window taken over the whole run instead: what measures a server from outside, from
// its first call to its last, knows no window.
std::map<std::string, double> whole_run(const explore::ResultsTable& table, const std::string& results,
                                        const observe::Figures& observed, std::optional<validation::PredictedRun>& of,
                                        Diagnostics& diagnostics) {
  const auto run = report::read_result(run_file(table, table.rows.front(), results), diagnostics);
  std::map<std::string, double> figures;
  if (run.is_null()) return figures;
  of = run_of(run);
  set_apart(observed, run, *of);
  const auto whole = result::of_whole_run(run);
  for (const metrics::Column& column : metrics::columns())
    if (const auto value = result::number_in(whole, column)) figures[column.name] = *value;
  return figures;
}

// The results of one run beside what was observed: each metric that both have, held to the limits.
int check_observed(const Arguments& arguments) {
  Diagnostics diagnostics;
  const auto table = explore::read_results(arguments.results, diagnostics);
  const auto observed = observe::read_figures(arguments.against, diagnostics);
  const std::vector<validation::Limit> limits = validation::parse_limits(arguments.limits, diagnostics);
  if (arguments.limits.empty())
    diagnostics.error({std::make_shared<const SourceText>(SourceText{"--max-error", ""})},
                      "nothing is held to a limit: name one, as tpot.mean=10%");
  if (table && table->rows.size() != 1)
    diagnostics.error({}, fmt::format("{} has {} runs; one is held against what was observed", arguments.results,
                                      table->rows.size()));
  validation::Report report;
  std::map<std::string, double> predicted;
  if (!diagnostics.has_errors()) predicted = whole_run(*table, arguments.results, *observed, report.run, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  report.predicted = arguments.results;
  report.measured = arguments.against;
  report.comparisons = observe::compare_figures(*observed, predicted);
  const bool met = validation::hold_to(limits, report, arguments.include_invalid);
  if (!arguments.junit.empty()) write_file_atomically(arguments.junit, validation::to_junit(report, "check"));
  if (!arguments.markdown.empty()) write_file_atomically(arguments.markdown, validation::to_markdown(report));
  const std::string text = arguments.format == "json" ? validation::to_json(report) : validation::to_text(report);
  if (!is_stdout(arguments.junit) && !is_stdout(arguments.markdown)) std::fputs(text.c_str(), stdout);
  return met ? kDone : kFailed;
}

int run_verb(const Arguments& arguments) {
  if (!arguments.against.empty()) return check_observed(arguments);
  Diagnostics diagnostics;
  auto table = explore::read_results(arguments.results, diagnostics);
  const explore::MetricColumns only = columns_of(arguments.metrics, diagnostics);
  std::optional<explore::Baseline> baseline;
  if (!arguments.update || std::filesystem::exists(arguments.baseline))
    baseline = explore::read_baseline(arguments.baseline, diagnostics);
  const bool by_class = baseline && std::ranges::find(baseline->axes, kClassAxis) != baseline->axes.end();
  if (table && (by_class || arguments.classes)) add_class_rows(*table, arguments.results, diagnostics);
  std::optional<explore::Check> check;
  if (!diagnostics.has_errors() && !arguments.update) check = explore::check(*table, *baseline, only, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  if (arguments.update) return update(*table, baseline, arguments);

  if (!arguments.junit.empty()) write_file_atomically(arguments.junit, report::junit_xml(*check));
  if (!arguments.markdown.empty()) write_file_atomically(arguments.markdown, report::check_markdown(*check));
  const std::string text = arguments.format == "json" ? report::check_json(*check)
                           : arguments.quiet          ? report::check_headline(*check) + '\n'
                                                      : report::check_text(*check);
  if (!is_stdout(arguments.junit) && !is_stdout(arguments.markdown)) std::fputs(text.c_str(), stdout);
  return check->passed() ? kDone : kFailed;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("check", "Hold results against a baseline, and fail when one is worse");
  verb->footer(kFooter);
  verb->add_option("results", arguments->results, "Folder of a sweep or of one run ('run -o')")
      ->type_name("DIR")
      ->required();
  CLI::Option* baseline =
      verb->add_option("--baseline", arguments->baseline, "What to hold them against")->type_name("FILE");
  CLI::Option* against =
      verb->add_option("--against", arguments->against, "Instead: observed.json of 'observe -o', for one run")
          ->type_name("FILE")
          ->excludes(baseline);
  verb->add_option("--max-error", arguments->limits, "With --against: fail where this error is larger. Repeatable")
      ->type_name("LIMIT")
      ->allow_extra_args(false)
      ->needs(against);
  verb->add_flag("--include-invalid", arguments->include_invalid,
                 "With --against: limits are held by runs, too, that are unsteady, saturated or truncated, or served a "
                 "part of the requests")
      ->needs(against);
  CLI::Option* refresh = verb->add_flag("--update", arguments->update,
                                        "Write the baseline from the results, with the tolerances that it has");
  verb->add_flag("--classes", arguments->classes,
                 "With --update: hold each class of requests (slo_class) too, in every later check")
      ->needs(refresh);
  CLI::Option* metrics =
      verb->add_option("--metrics", arguments->metrics,
                       "Only these, with --update those that the baseline is for; 'ttft' is all statistics of it")
          ->type_name("METRIC,...")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->default_str("every metric of which more or less is better");
  verb->add_option("--junit", arguments->junit, "Write JUnit XML for a CI server")
      ->type_name("FILE")
      ->excludes(refresh);
  verb->add_option("--markdown", arguments->markdown, "Write the report as Markdown, for the summary of a job")
      ->type_name("FILE")
      ->excludes(refresh);
  verb->add_option("--format", arguments->format, "table or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}).description(""))
      ->capture_default_str();
  CLI::Option* quiet = verb->add_flag("-q,--quiet", arguments->quiet, "Only the first sentence of the report");
  for (CLI::Option* of_baselines : {refresh, metrics, quiet}) against->excludes(of_baselines);
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    if (arguments->baseline.empty() && arguments->against.empty())
      throw CLI::RequiredError("--baseline FILE or --against FILE");
    session.exit_code = run_verb(*arguments);
  });
}

}  // namespace llmscape::cli::check_verb
