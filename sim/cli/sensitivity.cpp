// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sensitivity.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/process_pool.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/parameters.hpp"
#include "sim/explore/results.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::cli::sensitivity_verb {
namespace {

constexpr const char* kFooter =
    R"(Each figure of the hardware that the scenario states, itself or by a preset, is changed alone; whole
numbers (devices, banks, rows) are not: sweep them. docs/explaining.md says how to read the table.

Examples:
  llmscape sensitivity scenario.yaml
  llmscape sensitivity scenario.yaml --change 100% --metrics tpot.mean  # if it were twice as fast
  llmscape sensitivity scenario.yaml --only bandwidth --only peak --format csv -o effects.csv)";

struct Arguments {
  std::string scenario, output = "-";
  std::string change = "10%", format = "table";
  std::vector<std::string> set, only;
  std::vector<std::string> metrics = {"ttft.mean", "tpot.mean", "output_tokens_per_s", "joules_per_output_token"};
  const CLI::Option* metrics_option = nullptr;
  std::optional<std::int64_t> seed;
  bool quiet = false;
  int jobs = default_jobs();
  Messages messages;
};

const SourceRange kCommandLine{};

// "10%", "10 %", "0.1": a share above 0.
double share_of(std::string text, Diagnostics& diagnostics) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  text.erase(text.find_last_not_of(' ') + 1);
  const auto value = parse_quantity(text, Dimension::number);
  const double* number = std::get_if<double>(&value);
  if (number && *number > 0) return percent ? *number / 100 : *number;
  diagnostics.error(kCommandLine,
                    fmt::format("--change must be a share above 0, as 10% or 0.1; got {}", in_quotes(text)));
  return 0;
}

std::vector<const metrics::Column*> columns_of(const std::vector<std::string>& names, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const metrics::Column& column : metrics::columns()) known.push_back(column.name);
  std::vector<const metrics::Column*> columns;
  for (const std::string& name : names) {
    columns.push_back(metrics::find_column(name));
    if (!columns.back())
      diagnostics.error(kCommandLine,
                        fmt::format("there is no metric {}: see 'llmscape list metrics'", in_quotes(name)),
                        did_you_mean(name, known));
  }
  return columns;
}

std::string text_of(const explore::Sensitivity& sensitivity, std::string_view format) {
  if (format == "json") return report::to_json(sensitivity);
  return format == "csv" ? report::to_csv(sensitivity) : report::to_text(sensitivity);
}

// Text of --only that no figure of the scenario has in its path: nothing would be changed for it.
void check_only(const std::vector<std::string>& only, const scenario::Scenario& scenario, Diagnostics& diagnostics) {
  const std::vector<explore::Parameter> all = explore::hardware_parameters(scenario);
  std::vector<std::string> keys;
  for (const explore::Parameter& parameter : all) keys.push_back(parameter.path.substr(parameter.path.rfind('.') + 1));
  for (const std::string& text : only)
    if (std::ranges::none_of(all, [&](const auto& one) { return one.path.find(text) != std::string::npos; }))
      diagnostics.error(kCommandLine,
                        fmt::format("--only: no figure of the hardware has {} in its path", in_quotes(text)),
                        did_you_mean(text, keys));
}

// Metrics that the run of the scenario as it is does not have: their effects would read as none.
void check_base(const explore::Sensitivity& found, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < found.metrics.size(); ++i)
    if (!found.base[i])
      diagnostics.error(kCommandLine,
                        fmt::format("--metrics: the run has no {}", in_quotes(metrics::short_name(*found.metrics[i]))),
                        explore::needed_for(*found.metrics[i]->metric));
}

int run_verb(const Arguments& arguments) {
  Diagnostics diagnostics;
  scenario::report_overridden(arguments.set, arguments.seed, diagnostics);
  const auto scenario =
      scenario::load_scenario(arguments.scenario, arguments.set, arguments.seed, catalogs(), diagnostics);
  explore::SensitivityOptions options;
  options.change = share_of(arguments.change, diagnostics);
  options.metrics = columns_of(arguments.metrics, diagnostics);
  if (scenario) check_only(arguments.only, *scenario, diagnostics);
  arguments.messages.show(diagnostics, "See 'llmscape show fields scenario'.");
  if (diagnostics.has_errors()) return kUsage;
  options.only = arguments.only;
  options.needs_all_metrics = arguments.metrics_option->count() > 0;
  options.catalogs = remembering_catalogs();
  options.jobs = arguments.jobs;
  catch_interrupts();
  Progress progress("sensitivity", arguments.quiet);
  options.after_each = [&progress](double share) {
    stop_if_interrupted();
    progress.update(share);
  };
  const explore::Sensitivity found = explore::sensitivity(*scenario, options);
  Diagnostics lacking;
  if (options.needs_all_metrics) check_base(found, lacking);
  if (lacking.has_errors()) {
    arguments.messages.show(lacking, "See 'llmscape list metrics'.", "The scenario and its variations were run.");
    return kUsage;
  }
  for (const metrics::Column* column : found.incomparable)
    lacking.warning(kCommandLine,
                    fmt::format("effects on {} are left out where the figure changes the length that it is taken over",
                                column->name),
                    explore::advice_on(*column->metric));
  arguments.messages.show(lacking);
  write_file_atomically(arguments.output, text_of(found, arguments.format));
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("sensitivity", "Change each figure of the hardware a little, and say what it does to metrics");
  verb->footer(kFooter);
  verb->add_option("scenario", arguments->scenario, "Scenario file")->type_name("FILE")->required();
  verb->add_option("--set", arguments->set, "Lay a value over the scenario's, as 'run' does. Repeatable")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--seed", arguments->seed, "Seed of every random stream, instead of the scenario's")->type_name("N");
  verb->add_option("--change", arguments->change,
                   "By how much figures are changed, more and less; from 100% on only more")
      ->type_name("SHARE")
      ->capture_default_str();
  arguments->metrics_option =
      verb->add_option("--metrics", arguments->metrics, "Metrics to look at, with commas between; see 'list metrics'")
          ->type_name("NAMES")
          ->delimiter(',')
          ->default_str("ttft.mean, tpot.mean, output_tokens_per_s, joules_per_output_token");
  verb->add_option("--only", arguments->only, "Change only figures whose path has this text in it. Repeatable")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  verb->add_option("-j,--jobs", arguments->jobs, "Runs at once; the result does not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_option("--format", arguments->format, "What to print: table, json (schema sensitivity/1) or csv")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "csv"}).description(""))
      ->capture_default_str();
  verb->add_option("-o,--output", arguments->output, "File to write, - for stdout")
      ->type_name("FILE")
      ->capture_default_str();
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = run_verb(*arguments); });
}

}  // namespace llmscape::cli::sensitivity_verb
