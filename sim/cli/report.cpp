// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/expression.hpp"
#include "base/files.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/explore/plan.hpp"
#include "sim/explore/results.hpp"
#include "sim/report/page.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(The page needs no network and no other file. Its reader may choose other axes, groups and limits; the options say
what it opens with. docs/report.md explains it.

Examples:
  llmscape report out
  llmscape report out --max output_tokens_per_joule --min ttft.p99 --slo 'ttft.p99<=200ms,tpot.p99<=50ms' -o page.html)";

struct Arguments {
  std::string folder, output, group, slo;
  std::vector<std::string> maximize, minimize;
  bool quiet = false;
  Messages messages;
};

// A part of what was typed behind an option, as messages show it.
SourceRange place(const std::string& option, const std::string& text, std::size_t start, std::size_t length) {
  return {std::make_shared<const SourceText>(SourceText{option, text}), 1, static_cast<int>(start) + 1,
          static_cast<int>(length)};
}

const metrics::Column* column_named(const std::string& name, const SourceRange& where, Diagnostics& diagnostics) {
  const metrics::Column* column = metrics::find_column(name);
  if (column) return column;
  std::vector<std::string> names;
  for (const metrics::Column& one : metrics::columns()) names.push_back(one.name);
  diagnostics.error(where, fmt::format("unknown metric {}", in_quotes(name)), did_you_mean(name, names));
  return nullptr;
}

void add_objectives(report::PageView& view, const char* option, const std::vector<std::string>& names,
                    metrics::Better better, Diagnostics& diagnostics) {
  for (const std::string& name : names)
    if (const auto* column = column_named(name, place(option, name, 0, name.size()), diagnostics))
      view.objectives.push_back({column->name, better});
}

std::string trimmed(const std::string& text) {
  const std::size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? "" : text.substr(start, text.find_last_not_of(' ') - start + 1);
}

// "ttft.p99<=200ms,goodput_rps>=5": each a metric, a comparison and a value.
void add_limits(report::PageView& view, const char* option, const std::string& text, Diagnostics& diagnostics) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string limit = text.substr(start, end - start);
    const SourceRange where = place(option, text, start, limit.size());
    start = end + 1;
    const std::size_t sign = std::min(limit.find("<="), limit.find(">="));
    const Value value = sign == std::string::npos ? Value() : value_of(trimmed(limit.substr(sign + 2)));
    const double* bound = std::get_if<double>(&value);
    if (sign == std::string::npos || !bound) {
      diagnostics.error(where, fmt::format("{} is not a limit such as 'ttft.p99<=200ms'", in_quotes(limit)));
      continue;
    }
    if (const auto* column = column_named(trimmed(limit.substr(0, sign)), where, diagnostics))
      view.limits.push_back({column->name, *bound, limit[sign] == '<'});
  }
}

std::string axis_named(const std::string& name, const explore::ResultsTable& table, Diagnostics& diagnostics) {
  const std::vector<std::string> shorts = explore::short_names(table.axes);
  for (std::size_t i = 0; i < table.axes.size(); ++i)
    if (name == table.axes[i] || name == shorts[i]) return table.axes[i];
  diagnostics.error(place("--group", name, 0, name.size()), fmt::format("the sweep has no axis {}", in_quotes(name)),
                    did_you_mean(name, shorts));
  return "";
}

// What was typed, else what the plan of the sweep aims at.
report::PageView view_of(const Arguments& arguments, const fs::path& folder, Diagnostics& diagnostics) {
  report::PageView view;
  std::optional<explore::Plan> plan;
  if (fs::exists(folder / "plan.yaml")) plan = explore::load_plan(folder / "plan.yaml", {}, diagnostics);
  const bool typed = !arguments.maximize.empty() || !arguments.minimize.empty() || !plan;
  const auto& maximize = typed ? arguments.maximize : plan->config().objectives.maximize;
  const auto& minimize = typed ? arguments.minimize : plan->config().objectives.minimize;
  add_objectives(view, typed ? "--max" : "objectives.maximize", maximize, metrics::Better::higher, diagnostics);
  add_objectives(view, typed ? "--min" : "objectives.minimize", minimize, metrics::Better::lower, diagnostics);
  if (!arguments.slo.empty()) add_limits(view, "--slo", arguments.slo, diagnostics);
  else if (plan && plan->config().slo) add_limits(view, "slo", *plan->config().slo, diagnostics);
  return view;
}

int report(const Arguments& arguments) {
  Diagnostics diagnostics;
  const auto table = explore::read_results(arguments.folder, diagnostics);
  report::PageView view = view_of(arguments, table ? table->folder : "", diagnostics);
  if (table && !arguments.group.empty()) view.group = axis_named(arguments.group, *table, diagnostics);
  if (!table || diagnostics.has_errors()) {
    arguments.messages.show(diagnostics);
    return kUsage;
  }
  const Version& v = version();
  const std::string page = report::page(
      *table, view, fmt::format("llmscape {} ({}{})", v.number, v.revision, v.dirty ? ", dirty" : ""), diagnostics);
  arguments.messages.show(diagnostics);
  const fs::path output = arguments.output.empty() ? table->folder / "report.html" : fs::path(arguments.output);
  if (output == "-") {
    std::fwrite(page.data(), 1, page.size(), stdout);
    return kDone;
  }
  write_file_atomically(output, page);
  if (!arguments.quiet)
    fmt::print(stderr, "{}: {} runs, {:.1f} MB\n", output.string(), table->rows.size(),
               static_cast<double>(page.size()) / 1e6);
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("report", "Write the results of a sweep or a run as one page for a browser");
  verb->footer(kFooter);
  verb->add_option("folder", arguments->folder, "What 'sweep -o' or 'run -o' wrote")->type_name("DIR")->required();
  verb->add_option("-o,--output", arguments->output, "Write the page here; - is stdout [DIR/report.html]")
      ->type_name("FILE");
  verb->add_option("--max", arguments->maximize, "A metric of which more is better, for an axis of the plot")
      ->type_name("METRIC")
      ->allow_extra_args(false);
  verb->add_option("--min", arguments->minimize, "A metric of which less is better, for an axis of the plot")
      ->type_name("METRIC")
      ->allow_extra_args(false);
  verb->add_option("--group", arguments->group, "The axis of the sweep that colours tell apart")->type_name("AXIS");
  verb->add_option("--slo", arguments->slo, "Limits that the sliders stand at: 'ttft.p99<=200ms,tpot.p99<=50ms'")
      ->type_name("LIMITS");
  verb->add_flag("-q,--quiet", arguments->quiet, "No line on stderr about what was written");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = report(*arguments); });
}

}  // namespace llmscape::cli
