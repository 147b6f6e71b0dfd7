// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/pareto.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/table.hpp"
#include "base/yaml_reader.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/objective_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/explore/axis_role.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/report/frontier.hpp"

namespace llmscape::cli::pareto_verb {
namespace {

using explore::Objective;

constexpr const char* kFooter =
    R"(Objectives are metrics ('llmscape list metrics'), axes of the sweep, and arithmetic over them
with a name: tokens_per_s_per_user=1/tpot.mean. The scatter draws the first objective over the
second. Without any, those of the plan count. Repeats of a point are one configuration: the
mean, with its 95 % interval. It answers 1 when no configuration qualifies.

Presets:
{}
Examples:
  llmscape pareto out --max output_tokens_per_joule --min ttft.p99
  llmscape pareto out --preset interactivity --group hardware --slo 'ttft.p99 <= 200 ms'
  llmscape pareto out --max goodput_rps --min mean_w --where 'rate >= 4 /s' --epsilon 1%
  llmscape pareto out --dominates 17
  llmscape pareto out --format csv -o pareto.csv)";

struct Arguments {
  std::string results, where, group, labels, dominated, reference;
  ObjectiveOptions objectives;
  std::string slo;
  const CLI::Option* slo_option = nullptr;  // an empty SLO that was typed is none
  std::string epsilon = "0", format = "table", output = "-";
  bool include_invalid = false;
  Messages messages;
};

SourceRange typed(const std::string& option, const std::string& text) {
  return {std::make_shared<const SourceText>(SourceText{option, text}), 1, 1,
          static_cast<int>(std::max<std::size_t>(1, text.size()))};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ',') parts.emplace_back();
    else if (c != ' ' || !parts.back().empty()) parts.back() += c;
  return parts;
}

// Makes the query out of what was typed and what the plan of the sweep says; reports all mistakes.
class Reading {
 public:
  Reading(const Arguments& arguments, const explore::ResultsTable& table, Diagnostics& diagnostics)
      : arguments_(arguments), table_(table), diagnostics_(diagnostics) {
    const std::filesystem::path plan = table.folder / "plan.yaml";
    if (std::filesystem::exists(plan)) plan_ = read_yaml_file(plan, diagnostics);
  }

  explore::ParetoQuery query() {
    read_objectives();
    query_.where = condition(arguments_.where, typed("--where", arguments_.where));
    query_.group = condition(arguments_.group, typed("--group", arguments_.group));
    const YamlNode* planned = plan_.find("slo");
    if (arguments_.slo_option->count() > 0) query_.slo = condition(arguments_.slo, typed("--slo", arguments_.slo));
    else if (planned) query_.slo = condition(planned->text, planned->where);
    query_.include_invalid = arguments_.include_invalid;
    check_money();
    check_lengths();
    read_epsilon();
    if (!arguments_.reference.empty()) read_reference();
    return std::move(query_);
  }

  std::vector<std::size_t> label_axes() {
    std::vector<std::size_t> axes;
    if (arguments_.labels.empty()) return axes;
    for (const std::string& name : split(arguments_.labels)) {
      const auto axis = explore::find_axis(table_.axes, name);
      if (axis) axes.push_back(*axis);
      else
        diagnostics_.error(typed("--label", arguments_.labels), fmt::format("there is no axis {}", in_quotes(name)),
                           did_you_mean(name, explore::short_names(table_.axes)));
    }
    return axes;
  }

 private:
  void read_objectives() {
    const int before = diagnostics_.errors();
    query_.objectives = arguments_.objectives.read(plan_, table_, diagnostics_);
    const auto& all = query_.objectives;
    if (all.size() < 2 && diagnostics_.errors() == before)
      diagnostics_.error({}, all.empty() ? "no objectives: say --max, --min, --objectives or --preset"
                                         : "a frontier needs two objectives or more; got " + all.front().name);
  }

  // Conditions and --dominates put every configuration beside the same amount; a frontier is split by currency instead.
  void check_money() {
    if (diagnostics_.has_errors()) return;
    const explore::ResultsTable left = query_.where ? explore::rows_where(table_, *query_.where) : table_;
    const auto check = [&](const char* what, const std::string& option, const std::string& text) {
      explore::check_currency(what, typed(option, text), left, diagnostics_);
    };
    if (query_.where && explore::counts_money(*query_.where)) check("--where", "--where", arguments_.where);
    if (query_.slo && explore::counts_money(*query_.slo)) check("the SLO", "slo", query_.slo->text());
    if (!arguments_.dominated.empty() && counted_in(query_.objectives).money)
      check("--dominates", "--dominates", arguments_.dominated);
  }

  // Sums over windows of unlike length, and peaks of unlike slices, have no order.
  void check_lengths() {
    if (diagnostics_.has_errors()) return;
    const explore::ResultsTable left = query_.where ? explore::rows_where(table_, *query_.where) : table_;
    const auto check = [&](const std::string& what, const Expression& expression, const explore::ResultsTable& among) {
      explore::check_comparable(what, {}, expression, among, query_.include_invalid, diagnostics_);
    };
    check_objectives(left);
    if (query_.slo) check("the SLO", *query_.slo, left);
    if (query_.where) check("--where", *query_.where, table_);  // what it throws out as well
  }

  // Within each group, where there are some. Where all of them together do not compare, none is held against another.
  void check_objectives(const explore::ResultsTable& left) {
    const std::vector<explore::GroupRows> groups =
        query_.group ? rows_by_group(left, *query_.group) : std::vector<explore::GroupRows>{{"", left}};
    for (const Objective& objective : query_.objectives) {
      const int before = diagnostics_.errors();
      for (const explore::GroupRows& group : groups)
        explore::check_comparable("an objective", {}, objective.expression, group.table, query_.include_invalid,
                                  diagnostics_);
      if (groups.size() > 1 && diagnostics_.errors() == before)
        query_.groups_alone =
            query_.groups_alone || !incomparable(objective.expression, left, query_.include_invalid).empty();
    }
  }

  std::optional<Expression> condition(const std::string& text, const SourceRange& where) {
    if (text.empty()) return std::nullopt;
    auto expression = Expression::parse(text, where, diagnostics_);
    if (expression) check_names(*expression, table_, diagnostics_);
    if (expression) check_units(*expression, table_, diagnostics_);
    if (expression) explore::check_known(*expression, table_, diagnostics_);
    return expression;
  }

  void read_epsilon() {
    const SourceRange where = typed("--epsilon", arguments_.epsilon);
    const auto expression = Expression::parse(arguments_.epsilon, where, diagnostics_);
    if (!expression) return;
    const auto value = expression->evaluate([](std::string_view) { return std::nullopt; });
    const double* number = value ? std::get_if<double>(&*value) : nullptr;
    if (number && *number >= 0 && *number < 1) query_.epsilon = *number;
    else diagnostics_.error(where, "an epsilon is a share from 0 to 1, without it: '1%' or '0.01'");
  }

  // "ttft.p99=1 s,goodput_rps=0"
  void read_reference() {
    query_.reference.resize(query_.objectives.size());
    const SourceRange where = typed("--reference", arguments_.reference);
    std::vector<std::string> names;
    for (const Objective& objective : query_.objectives) names.push_back(objective.name);
    for (const std::string& part : split(arguments_.reference)) {
      const std::string name = part.substr(0, part.find('='));
      const auto known = std::ranges::find(names, name);
      const Value value = part.size() > name.size() ? value_of(part.substr(name.size() + 1)) : Value("");
      const double* number = std::get_if<double>(&value);
      if (known == names.end())
        diagnostics_.error(where, fmt::format("{} is none of the objectives", in_quotes(name)),
                           did_you_mean(name, names));
      else if (!number) diagnostics_.error(where, fmt::format("the reference of '{0}' is written '{0}=NUMBER'", name));
      else query_.reference[static_cast<std::size_t>(known - names.begin())] = *number;
    }
  }

  const Arguments& arguments_;
  const explore::ResultsTable& table_;
  Diagnostics& diagnostics_;
  YamlNode plan_;
  explore::ParetoQuery query_;
};

// The configuration with a point's number, or a label; nothing after reporting.
std::optional<std::size_t> named_configuration(const report::FrontierView& view, const std::string& name,
                                               Diagnostics& diagnostics) {
  const auto& all = view.answer.configurations;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    labels.push_back(all[i].label);
    const auto has_number = [&](std::size_t row) {
      const std::string number = std::to_string(view.table.rows[row].point);
      return name == number || name == '#' + number;
    };
    if (name == all[i].label || std::ranges::any_of(all[i].rows, has_number)) return i;
  }
  diagnostics.error(typed("--dominates", name), fmt::format("{} is neither a point nor a label", in_quotes(name)),
                    did_you_mean(name, labels));
  return std::nullopt;
}

std::string written(const report::FrontierView& view, const Arguments& arguments) {
  if (arguments.format == "json") return report::frontier_json(view);
  if (arguments.format == "csv") return report::frontier_csv(view);
  return report::frontier_text(view, is_stdout(arguments.output) && arguments.messages.colour(stdout));
}

int answer(const Arguments& arguments) {
  Diagnostics diagnostics;
  const auto refuse = [&] {
    arguments.messages.show(diagnostics);
    return kUsage;
  };
  const auto table = explore::read_results(arguments.results, diagnostics);
  if (!table) return refuse();
  Reading reading(arguments, *table, diagnostics);
  const explore::ParetoQuery query = reading.query();
  const std::vector<std::size_t> label_axes = reading.label_axes();
  if (diagnostics.has_errors()) return refuse();
  const explore::ParetoAnswer found = explore::pareto(*table, query);
  report::FrontierView view{*table, query, found, label_axes};
  if (is_stdout(arguments.output)) view.width = static_cast<std::size_t>(text_width(stdout));
  std::string text;
  if (arguments.dominated.empty()) {
    text = written(view, arguments);
  } else {
    const auto named = named_configuration(view, arguments.dominated, diagnostics);
    if (!named) return refuse();
    text = report::dominators_text(view, *named);
  }
  arguments.messages.show(diagnostics);  // warnings
  write_file_atomically(arguments.output, text);
  return found.points.empty() ? kFailed : kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("pareto", "Find the configurations of a sweep that no other is better than");
  std::string explained;
  for (const auto& preset : explore::objective_presets())
    explained += fmt::format("  {:15}{}\n", preset.name, preset.text);
  verb->footer(fmt::format(kFooter, explained));
  verb->add_option("results", arguments->results, "Folder of a sweep, or its results.csv")
      ->type_name("DIR")
      ->required();
  arguments->objectives.add_options(*verb);
  arguments->objectives.add_more_options(*verb);
  arguments->slo_option =
      verb->add_option(
              "--slo", arguments->slo,
              "What a configuration must meet to qualify: 'ttft.p99<=200ms,e2e.p99<=2s'. Without it that of the "
              "plan counts; '' is none")
          ->type_name("CONDITION");
  verb->add_option("--where", arguments->where, "Look at these configurations only: 'rate <= 8 /s and hardware != l4'")
      ->type_name("CONDITION");
  verb->add_option("--group", arguments->group, "One frontier for each value of an axis or expression")
      ->type_name("AXIS");
  verb->add_option("--epsilon", arguments->epsilon,
                   "Configurations so near to the frontier, relative in every objective, are ties")
      ->type_name("SHARE")
      ->capture_default_str();
  verb->add_option("--label", arguments->labels, "Axes that configurations are called by, with commas; else all")
      ->type_name("AXES");
  verb->add_option("--dominates", arguments->dominated,
                   "Say instead who is better than this one everywhere, and by how much: the number of a point, or its "
                   "label")
      ->type_name("POINT");
  verb->add_option("--reference", arguments->reference,
                   "Where hypervolumes begin, by objective: 'ttft.p99=1 s'; else at the worst of all")
      ->type_name("LIST");
  verb->add_flag("--include-invalid", arguments->include_invalid,
                 "Let noisy, unsteady, saturated and truncated runs qualify too");
  auto* format = verb->add_option("--format", arguments->format, "table, json or csv")
                     ->type_name("FORMAT")
                     ->capture_default_str()
                     ->check(CLI::IsMember({"table", "json", "csv"}).description(""));
  verb->get_option("--dominates")->excludes(format);
  verb->add_option("-o,--output", arguments->output, "Where to write it; - is stdout")
      ->type_name("FILE")
      ->capture_default_str();
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = answer(*arguments); });
}

}  // namespace llmscape::cli::pareto_verb
