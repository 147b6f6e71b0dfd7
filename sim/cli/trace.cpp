// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/quantity.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/trace_fit.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "traces/column_mapping.hpp"
#include "traces/convert.hpp"
#include "traces/describe.hpp"

namespace llmscape::cli::trace_verb {
namespace {

constexpr const char* kFooter = R"(Reads plain, gzip and zstd files; 'llmscape list formats' names the formats.

Examples:
  llmscape trace describe AzureLLMInferenceTrace_conv.csv
  llmscape trace convert conversation_trace.jsonl -o trace.jsonl.zst --speedup 2
  llmscape trace describe log.csv --columns arrival=ts,prompt=in,output=out --time-unit ms
  llmscape trace fit trace.jsonl.zst -o chat.yaml --score
  llmscape trace slice trace.jsonl.zst -o hour.jsonl --from '10 min' --to '70 min' --rebase)";

struct Arguments {
  std::string trace, format, columns, time_unit, output, page;
  int block_tokens = 16;
  double speedup = 1;
  std::int64_t first = 0;
  std::optional<std::int64_t> count;
  std::string from, to;
  bool rebase = false, sessions = false, passages = false, score = false;
  Messages messages;
};

SourceRange typed(std::string text) { return {std::make_shared<const SourceText>(SourceText{std::move(text), ""})}; }

std::optional<Seconds> time_of(const std::string& option, const std::string& text, Diagnostics& diagnostics) {
  if (text.empty()) return std::nullopt;
  const auto parsed = parse_quantity(text, Dimension::time);
  if (const double* seconds = std::get_if<double>(&parsed)) return Seconds(*seconds);
  const auto& error = std::get<QuantityError>(parsed);
  diagnostics.error(typed(option), error.message, error.suggestion);
  return std::nullopt;
}

// nullptr after reporting.
std::unique_ptr<traces::TraceReader> open(const Arguments& arguments, Diagnostics& diagnostics) {
  const SourceRange where = typed(arguments.trace);
  if (arguments.columns.empty()) {
    if (!arguments.time_unit.empty())
      diagnostics.error(typed("--time-unit"), "only a table that is read with '--columns' needs the unit of its times");
    return traces::open_trace(arguments.trace, arguments.format, where, diagnostics);
  }
  auto mapping = traces::parse_column_mapping(arguments.columns, arguments.time_unit, diagnostics);
  if (!arguments.format.empty())
    diagnostics.error(typed("--trace-format"), "a table that is read with '--columns' has no other format");
  if (!mapping || diagnostics.has_errors()) return nullptr;
  return traces::open_mapped_trace(arguments.trace, *std::move(mapping), where, diagnostics);
}

int describe(const Arguments& arguments) {
  Diagnostics diagnostics;
  const auto reader = open(arguments, diagnostics);
  if (reader) {
    const traces::TraceStatistics statistics = traces::describe(*reader, arguments.block_tokens, diagnostics);
    if (!diagnostics.has_errors()) std::fputs(traces::text_of(statistics).c_str(), stdout);
  }
  arguments.messages.show(diagnostics);
  return diagnostics.has_errors() ? kUsage : kDone;
}

int convert(const Arguments& arguments) {
  Diagnostics diagnostics;
  traces::Conversion conversion;
  conversion.slice.first = arguments.first;
  conversion.slice.count = arguments.count;
  conversion.slice.from = time_of("--from", arguments.from, diagnostics).value_or(Seconds());
  conversion.slice.to = time_of("--to", arguments.to, diagnostics);
  conversion.rebase = arguments.rebase;
  conversion.time_factor = 1 / arguments.speedup;
  const SourceRange where = typed(arguments.trace);
  if (!diagnostics.has_errors()) {
    if (const auto reader = open(arguments, diagnostics))
      traces::convert(*reader, arguments.output, conversion, where, diagnostics);
  }
  arguments.messages.show(diagnostics);
  return diagnostics.has_errors() ? kUsage : kDone;
}

int fit(const Arguments& arguments) {
  using workloads::FitStream;
  const FitStream stream = arguments.sessions   ? FitStream::sessions
                           : arguments.passages ? FitStream::passages
                                                : FitStream::calls;
  Diagnostics diagnostics;
  if (const auto reader = open(arguments, diagnostics))
    fit_trace(*reader, {arguments.trace, arguments.output, arguments.page, stream, arguments.score}, diagnostics);
  arguments.messages.show(diagnostics);
  return diagnostics.has_errors() ? kUsage : kDone;
}

CLI::App* add_action(CLI::App& verb, const char* name, const char* text, const std::shared_ptr<Arguments>& arguments) {
  CLI::App* action = verb.add_subcommand(name, text);
  action->add_option("trace", arguments->trace, "Trace file")->type_name("FILE")->required();
  action
      ->add_option("--trace-format", arguments->format,
                   "Format of the file; recognised from its first line if not given")
      ->type_name("NAME");
  action
      ->add_option("--columns", arguments->columns,
                   "Columns of any CSV or keys of any JSON Lines file: arrival=NAME,prompt=NAME,output=NAME and, where "
                   "there is one, session=NAME")
      ->type_name("LIST");
  action
      ->add_option("--time-unit", arguments->time_unit,
                   "Unit of the arrival times under '--columns': ns, us, ms, s, min, or date for dates and times")
      ->type_name("UNIT");
  arguments->messages.add_options(*action);
  return action;
}

void add_output(CLI::App& action, Arguments& arguments) {
  action
      .add_option("-o,--output", arguments.output,
                  "File to write, in our own format; compressed if it ends in .gz or .zst; - is stdout")
      ->type_name("FILE")
      ->required();
  action.add_option("--speedup", arguments.speedup, "Divide the times between arrivals by this")
      ->type_name("FACTOR")
      ->check(above_zero, "")
      ->capture_default_str();
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("trace", "Describe, convert, cut and fit recorded request traces");
  verb->footer(kFooter);
  verb->require_subcommand(1);

  CLI::App* described =
      add_action(*verb, "describe", "Print lengths, arrivals, burstiness and prefix reuse", arguments);
  described
      ->add_option("--block-tokens", arguments->block_tokens, "Tokens of a block when reuse of whole blocks is counted")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  described->callback([arguments, &session] { session.exit_code = describe(*arguments); });

  CLI::App* converted = add_action(*verb, "convert", "Write a trace in our own format", arguments);
  add_output(*converted, *arguments);
  converted->callback([arguments, &session] { session.exit_code = convert(*arguments); });

  CLI::App* sliced = add_action(*verb, "slice", "Write a part of a trace", arguments);
  add_output(*sliced, *arguments);
  sliced->add_option("--first", arguments->first, "Records to skip, of those in the time")
      ->type_name("N")
      ->capture_default_str();
  sliced->add_option("--count", arguments->count, "Records to write, behind these; to the end if not given")
      ->type_name("N");
  sliced->add_option("--from", arguments->from, "Only arrivals at or after this time, with its unit: '10 min'")
      ->type_name("TIME");
  sliced->add_option("--to", arguments->to, "Only arrivals before this time")->type_name("TIME");
  sliced->add_flag("--rebase", arguments->rebase, "Count arrivals from the first record that is written");
  sliced->callback([arguments, &session] { session.exit_code = convert(*arguments); });

  CLI::App* fitted = add_action(*verb, "fit", "Fit a workload to a trace, and show how it compares", arguments);
  fitted
      ->add_option(
          "-o,--output", arguments->output,
          "Workload to write, for 'workload: {preset: FILE, ...}' of a scenario; - is stdout, and nothing else "
          "is printed then")
      ->type_name("FILE");
  fitted->add_option("--page", arguments->page, "Page of HTML to write, with trace and fit side by side")
      ->type_name("FILE");
  CLI::Option* sessions =
      fitted->add_flag("--sessions", arguments->sessions,
                       "Fit the trace's sessions, each call after the one before, instead of single calls");
  fitted
      ->add_flag("--passages", arguments->passages,
                 "Fit questions with passages of a corpus by their popularity, instead of single calls")
      ->excludes(sessions);
  fitted->add_flag("--score", arguments->score,
                   "Fit the first half of the time as well, and compare it with the second");
  fitted->callback([arguments, &session] { session.exit_code = fit(*arguments); });
}

}  // namespace llmscape::cli::trace_verb
