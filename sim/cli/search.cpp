// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/process_pool.hpp"
#include "base/standard_streams.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/search.hpp"
#include "sim/report/search_answer.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::cli::search_verb {
namespace {

constexpr const char* kFooter =
    R"(Doubles or halves the number from the scenario's own value until one value meets the SLO and one
does not, then bisects: in the log, or over whole numbers, which are found exactly. Near a limit
(10 %) a value runs with further seeds until the 95 % interval of the mean is clear of it. Exits
with 1 if no value meets the SLO.

Examples:
  llmscape search scenario.yaml --max workload.arrivals.rate --slo 'ttft.p99<=200ms,tpot.p99<=50ms'
  llmscape search scenario.yaml --min hardware.devices[0].count --slo 'e2e.p99<=2s'
  llmscape search scenario.yaml --max workload.rate --between '1 /s,64 /s' --slo 'e2e.p99<=2s')";

struct Arguments {
  std::string scenario, max, min, slo, between;
  std::string precision = "2%", format = "table";
  std::vector<std::string> set;
  std::optional<std::int64_t> seed;
  std::int64_t repeat = 5;
  bool include_invalid = false, quiet = false;
  int jobs = default_jobs();
  Messages messages;
};

SourceRange typed(const std::string& option, const std::string& text) {
  return {std::make_shared<const SourceText>(SourceText{option + ' ' + text, text}), 1, 1,
          static_cast<int>(text.size())};
}

// A share between 0.01 % and 100 %: "2%", "0.02".
void read_precision(const std::string& text, explore::SearchSpace& space, Diagnostics& diagnostics) {
  const Value value = value_of(text);
  const double* share = std::get_if<double>(&value);
  if (share && *share >= 1e-4 && *share <= 1) space.precision = *share;
  else diagnostics.error(typed("--precision", text), "a precision is a share from 0.01% to 100%", "like 2%");
}

// Where the bracket begins: at the scenario's own value, or in the middle of --between.
void read_space(const Arguments& arguments, explore::SearchQuery& query, Diagnostics& diagnostics) {
  explore::SearchSpace& space = query.space;
  space.largest = !arguments.max.empty();
  space.whole = query.number.whole;
  if (!arguments.between.empty()) {
    const auto ends = explore::read_ends(query.number, arguments.between, "--between", diagnostics);
    if (!ends) return;
    space.low = ends->low;
    space.high = ends->high;
    space.start = std::sqrt(ends->low * ends->high);
    if (query.number.own && *query.number.own >= ends->low && *query.number.own <= ends->high)
      space.start = *query.number.own;
  } else if (query.number.own && *query.number.own > 0) {
    space.start = *query.number.own;
  } else {
    diagnostics.error(typed(space.largest ? "--max" : "--min", query.number.path),
                      "the scenario says no value above 0 to begin with", "say where to look: --between LOW,HIGH");
  }
}

std::optional<explore::SearchQuery> read_query(const Arguments& arguments, const explore::Plan& plan,
                                               Diagnostics& diagnostics) {
  explore::SearchQuery query;
  const auto scenario = explore::scenario_of(plan, *plan.point(0), catalogs(), diagnostics);
  const std::string& path = arguments.max.empty() ? arguments.min : arguments.max;
  explore::ResultsTable names;
  names.axes = {path};
  query.question.limits = explore::read_slo(arguments.slo, "--slo", names, diagnostics);
  query.question.repeat = static_cast<std::size_t>(arguments.repeat);
  query.question.include_invalid = arguments.include_invalid;
  read_precision(arguments.precision, query.space, diagnostics);
  auto number =
      scenario ? explore::find_numeric_path(*scenario, path, arguments.max.empty() ? "--min" : "--max", diagnostics)
               : std::nullopt;
  if (!number) return std::nullopt;
  query.number = std::move(*number);
  read_space(arguments, query, diagnostics);
  return query;
}

int search(const Arguments& arguments) {
  Diagnostics diagnostics;
  explore::PlanChanges changes;
  changes.set = arguments.set;
  if (arguments.seed) changes.set.push_back(fmt::format("seed={}", *arguments.seed));
  const auto plan = explore::load_plan(arguments.scenario, changes, diagnostics);
  if (plan && plan->size() != 1)
    diagnostics.error(typed("scenario", arguments.scenario),
                      "a search starts from a scenario, not from a plan of several points");
  const auto query = plan && !diagnostics.has_errors() ? read_query(arguments, *plan, diagnostics) : std::nullopt;
  arguments.messages.show(diagnostics, "See 'llmscape show fields scenario' and 'llmscape list metrics'.");
  if (!query || diagnostics.has_errors()) return kUsage;

  catch_interrupts();
  const bool shows_progress = !arguments.quiet && isatty(fileno(stderr)) != 0;
  explore::SearchOptions options{arguments.jobs, remembering_catalogs(), [&](std::size_t runs) {
                                   stop_if_interrupted();
                                   if (shows_progress) write_to_stderr(fmt::format("\rsearch: {} runs", runs));
                                 }};
  const explore::SearchAnswer answer = explore::search(*plan, *query, options);
  if (shows_progress) write_to_stderr("\n");
  Diagnostics lacking;
  for (const metrics::Column* column : answer.lacking)
    lacking.error(typed("--slo", arguments.slo),
                  fmt::format("the run has no {}", in_quotes(metrics::short_name(*column))),
                  explore::needed_for(*column->metric));
  for (const metrics::Column* column : answer.incomparable)
    lacking.error(typed("--slo", arguments.slo),
                  fmt::format("{} is a sum over the window, whose length differs from value to value", column->name),
                  explore::advice_on(*column->metric));
  if (lacking.has_errors()) {
    arguments.messages.show(
        lacking, "See 'llmscape list metrics'.",
        fmt::format("{} = {} was run, and the search went no further.", query->number.path, answer.tried.front().text));
    return kUsage;
  }
  const std::string text =
      arguments.format == "json" ? report::search_json(*query, answer) : report::search_text(*query, answer);
  std::fputs(text.c_str(), stdout);
  if (answer.tried.empty()) return kUsage;  // every value was refused: nothing was asked of the scenario
  return answer.best ? kDone : kFailed;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("search", "Find the largest load, or the fewest devices, that meet an SLO");
  verb->footer(kFooter);
  verb->add_option("scenario", arguments->scenario, "Scenario file")->type_name("FILE")->required();
  CLI::Option* max =
      verb->add_option("--max", arguments->max, "Number whose largest value is sought: workload.arrivals.rate")
          ->type_name("PATH");
  verb->add_option("--min", arguments->min, "Number whose smallest value is sought: hardware.devices[0].count")
      ->type_name("PATH")
      ->excludes(max);
  verb->add_option("--slo", arguments->slo, "Limits that its value must keep, with a verdict that is valid")
      ->type_name("LIMITS")
      ->required();
  verb->add_option("--between", arguments->between, "Look no further than these two values")->type_name("LOW,HIGH");
  verb->add_option("--precision", arguments->precision,
                   "How close the value that meets the SLO and the one that fails are, unless values are whole")
      ->type_name("SHARE")
      ->capture_default_str();
  verb->add_option("--repeat", arguments->repeat, "Most seeds for one value near a limit")
      ->type_name("N")
      ->check(above_zero, "")
      ->capture_default_str();
  verb->add_flag("--include-invalid", arguments->include_invalid,
                 "Runs that are noisy, unsteady or saturated count too");
  verb->add_option("--set", arguments->set, "Lay a value over the scenario's. Repeatable")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--seed", arguments->seed, "First seed, instead of the scenario's")->type_name("N");
  verb->add_option("-j,--jobs", arguments->jobs, "Runs at once; the answer does not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_option("--format", arguments->format, "What to print: table or json (schema search/1)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}).description(""))
      ->capture_default_str();
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    if (arguments->max.empty() && arguments->min.empty()) throw CLI::RequiredError("--max PATH or --min PATH");
    session.exit_code = search(*arguments);
  });
}

}  // namespace llmscape::cli::search_verb
