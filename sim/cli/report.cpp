// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <string>

#include "base/expression.hpp"
#include "base/files.hpp"
#include "base/standard_streams.hpp"
#include "base/yaml_reader.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/objective_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/explore/axis_role.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/results.hpp"
#include "sim/explore/slo.hpp"
#include "sim/report/frontier.hpp"
#include "sim/report/page.hpp"
#include "sim/report/page_columns.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::cli::report_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(The page needs no network and no other file. Its reader may choose other axes, groups and
limits; the options say what it opens with. docs/report.md explains it.

Examples:
  llmscape report out
  llmscape report out --where 'workload == rag'
  llmscape report out --max output_tokens_per_joule --min ttft.p99 --slo 'ttft.p99<=200ms')";

struct Arguments {
  std::string folder, output, group, where;
  ObjectiveOptions objectives;
  std::optional<std::string> slo;
  bool quiet = false;
  Messages messages;
};

// Reads what the page opens with out of what was typed and what the plan of the sweep says; reports all mistakes.
class Reading {
 public:
  Reading(const Arguments& arguments, const explore::ResultsTable& table, Diagnostics& diagnostics)
      : arguments_(arguments), table_(table), columns_(table), diagnostics_(diagnostics) {
    const fs::path plan = table.folder / "plan.yaml";
    if (fs::exists(plan)) plan_ = read_yaml_file(plan, diagnostics);
  }

  report::PageView view() {
    view_.objectives = arguments_.objectives.read(plan_, table_, diagnostics_);
    if (arguments_.objectives.typed() && view_.objectives.size() < 2 && !diagnostics_.has_errors())
      diagnostics_.error({}, "a plot needs two objectives: say --max and --min");
    check_objectives();
    tell_left_out();
    const YamlNode* planned = plan_.find("slo");
    if (arguments_.slo) add_limits(*arguments_.slo, Severity::error);
    else if (planned) add_limits(planned->text, Severity::warning);
    if (!arguments_.group.empty()) find_group();
    return std::move(view_);
  }

 private:
  // A chart needs values of both; what the page opens with instead is not what was asked for.
  void check_objectives() {
    for (const explore::Objective& objective : std::vector(view_.objectives)) {
      if (table_.rows.empty() || !columns_.of(objective).empty()) continue;
      const std::string message = fmt::format("no configuration has {}", in_quotes(objective.name));
      if (arguments_.objectives.typed()) diagnostics_.error({}, message);
      else diagnostics_.warning({}, message + ": the page opens with other objectives than the plan's");
      view_.objectives.clear();
    }
  }

  // A plot has two axes.
  void tell_left_out() {
    if (view_.objectives.size() < 3) return;
    std::string names;
    for (std::size_t k = 2; k < view_.objectives.size(); ++k)
      names += (names.empty() ? "" : ", ") + in_quotes(view_.objectives[k].name);
    diagnostics_.warning({},
                         fmt::format("the page opens with the first two objectives: its frontiers and sentences leave "
                                     "out {}",
                                     names),
                         "choose another under 'Chart', or ask 'llmscape pareto', which looks at all");
  }

  bool has_values(const metrics::Column& column) const {
    return table_.rows.empty() || std::ranges::any_of(columns_.metrics(), [&](const nlohmann::ordered_json& one) {
             return one["name"] == column.name;
           });
  }

  // "ttft.p99<=200ms,goodput_rps>=5": what a slider can stand at, however it is written. The plan may say more than
  // that.
  void add_limits(const std::string& text, Severity severity) {
    static const std::regex kBetween(R"(\s*(,|\band\b)\s*)");
    const std::sregex_token_iterator end;
    for (std::sregex_token_iterator part(text.begin(), text.end(), kBetween, -1); part != end; ++part) {
      const std::string limit = *part;
      const std::ptrdiff_t start = part->first - text.begin();
      Diagnostics unheard;  // its mistakes are told below
      const auto read = explore::read_slo(limit, "", table_, unheard);
      const auto plain = read.size() == 1 ? explore::metric_limit(read.front()) : std::nullopt;
      if (read.empty() && !in_its_unit(text, start, limit, severity)) continue;
      if (!plain)
        complain(text, start, limit, severity, "is no limit that a slider can stand at, as 'ttft.p99<=200ms' is");
      else if (!has_values(*plain->column))
        complain(text, start, limit, severity,
                 fmt::format("is met by no configuration: none has {}", in_quotes(plain->name)));
      else if (explore::counts_money(*plain->column) && explore::currencies_of(table_).size() > 1)
        complain(text, start, limit, severity, "compares amounts in unlike currencies");
      else if (!incomparable(read.front().left, table_, false).empty())
        complain(text, start, limit, severity, "compares what was taken over unlike lengths of time",
                 explore::advice_on(*plain->column->metric));
      else add_limit(*plain, read.front(), limit);
    }
  }

  void add_limit(const explore::MetricLimit& plain, const explore::Limit& limit, const std::string& typed) {
    view_.limits.push_back({plain.column->name, plain.bound, limit.at_most});
    if (limit.strict)
      diagnostics_.warning({}, fmt::format("{} is drawn as {}: sliders let the bound itself in", in_quotes(typed),
                                           limit.at_most ? "<=" : ">="));
  }

  bool in_its_unit(const std::string& text, std::ptrdiff_t start, const std::string& limit, Severity severity) {
    Diagnostics mistakes;
    const auto condition = Expression::parse(limit, {}, mistakes);
    if (condition) explore::check_units(*condition, table_, mistakes);
    for (const Diagnostic& mistake : mistakes.sorted())
      complain(text, start, limit, severity, "is no limit: " + mistake.message, mistake.suggestion);
    return !mistakes.has_errors();
  }

  void complain(const std::string& text, std::ptrdiff_t start, const std::string& limit, Severity severity,
                std::string_view why, const std::string& suggestion = {}) {
    const SourceRange where{
        std::make_shared<const SourceText>(SourceText{severity == Severity::error ? "--slo" : "plan.yaml", text}), 1,
        static_cast<int>(start) + 1, static_cast<int>(limit.size())};
    const std::string message = fmt::format("{} {}", in_quotes(limit), why);
    if (severity == Severity::error) diagnostics_.error(where, message, suggestion);
    else diagnostics_.warning(where, message + "; the page opens without it", suggestion);
  }

  void find_group() {
    const std::string& name = arguments_.group;
    if (const auto axis = explore::find_axis(table_.axes, name)) view_.group = table_.axes[*axis];
    else
      diagnostics_.error(
          {std::make_shared<const SourceText>(SourceText{"--group", name}), 1, 1, static_cast<int>(name.size())},
          fmt::format("there is no axis {}", in_quotes(name)), did_you_mean(name, explore::short_names(table_.axes)));
  }

  const Arguments& arguments_;
  const explore::ResultsTable& table_;
  report::PageColumns columns_;  // of what the page will have
  Diagnostics& diagnostics_;
  YamlNode plan_;
  report::PageView view_;
};

// Leaves the configurations of the table for which the condition holds.
void look_at(const std::string& text, explore::ResultsTable& table, Diagnostics& diagnostics) {
  const auto source = std::make_shared<const SourceText>(SourceText{"--where", text});
  const SourceRange where{source, 1, 1, static_cast<int>(text.size())};
  const auto condition = Expression::parse(text, where, diagnostics);
  if (condition) explore::check_names(*condition, table, diagnostics);
  if (condition) explore::check_units(*condition, table, diagnostics);
  if (condition && !diagnostics.has_errors()) {  // as 'pareto' does: among those too that it throws out
    if (explore::counts_money(*condition)) explore::check_currency("--where", where, table, diagnostics);
    explore::check_comparable("--where", where, *condition, table, false, diagnostics);
  }
  if (diagnostics.has_errors()) return;
  table = explore::rows_where(table, *condition);
  if (table.rows.empty()) diagnostics.error(where, "no configuration of the sweep is so");
}

int report(const Arguments& arguments) {
  Diagnostics diagnostics;
  auto table = explore::read_results(arguments.folder, diagnostics);
  report::PageView view;
  if (table && table->rows.empty()) diagnostics.error({}, "the sweep has no results yet");
  if (table && !arguments.where.empty()) look_at(arguments.where, *table, diagnostics);
  if (table) view = Reading(arguments, *table, diagnostics).view();
  if (!table || diagnostics.has_errors()) {
    arguments.messages.show(diagnostics);
    return kUsage;
  }
  const Version& v = version();
  view.where = arguments.where;
  const std::string page = report::page(
      *table, view, fmt::format("llmscape {} ({}{})", v.number, v.revision, v.dirty ? ", dirty" : ""), diagnostics);
  if (const std::string failed = report::failed_notice(table->failed); !failed.empty()) diagnostics.warning({}, failed);
  arguments.messages.show(diagnostics);
  const fs::path output = arguments.output.empty() ? table->folder / "report.html" : fs::path(arguments.output);
  write_file_atomically(output, page);
  if (!arguments.quiet && !is_stdout(output))
    write_to_stderr(fmt::format("{}: {} runs, {:.1f} MB\n", output.string(), table->rows.size(),
                                static_cast<double>(page.size()) / 1e6));
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("report", "Write the results of a sweep or a run as one page for a browser");
  verb->footer(kFooter);
  verb->add_option("folder", arguments->folder, "What 'sweep -o' or 'run -o' wrote")->type_name("DIR")->required();
  verb->add_option("-o,--output", arguments->output, "Write the page here; - is stdout [DIR/report.html]")
      ->type_name("FILE");
  arguments->objectives.add_options(*verb);
  verb->add_option("--where", arguments->where, "Show these configurations only: 'rate <= 8 /s and hardware != l4'")
      ->type_name("CONDITION");
  verb->add_option("--group", arguments->group, "The axis of the sweep that colours tell apart")->type_name("AXIS");
  verb->add_option("--slo", arguments->slo,
                   "Limits that the sliders stand at: 'ttft.p99<=200ms,tpot.p99<=50ms'; the plan's if not said")
      ->type_name("LIMITS");
  verb->add_flag("-q,--quiet", arguments->quiet, "No line on stderr about what was written");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = report(*arguments); });
}

}  // namespace llmscape::cli::report_verb
