// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/objective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "base/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {
namespace {

constexpr int kBits = 30;                        // of a loss: nine digits
constexpr std::string_view kMoney = "currency";  // the unit of metrics that are amounts of it

// Units of quantities that presets compute.
const std::map<std::string, std::string, std::less<>> kUnits = {
    {"output_tokens_per_s_per_device", "tokens/s/device"},
    {"tokens_per_s_per_user", "tokens/s/user"},
    {"tokens_per_s_per_peak_MW", "tokens/s/MW"},
    {"output_tokens_per_joule", "tokens/J"},
    {"joules_per_output_token", "J/token"},
    {"output_tokens_per_s", "tokens/s"},
    {"cost_per_million_output_tokens", "currency/Mtoken"},
    {"cost_per_million_answered_tokens", "currency/Mtoken"},
    {"joules_per_answered_token", "J/token"},
    {"co2_g_per_million_output_tokens", "g/Mtoken"},
    {"co2_g_per_million_answered_tokens", "g/Mtoken"},
};

// The SI unit of its values, as conditions have them: "/s" of "60 /min".
std::string unit_of_axis(std::size_t axis, const ResultsTable& table) {
  std::vector<std::string> values;
  for (const ResultRow& row : table.rows) values.push_back(row.values[axis]);
  const auto unit = unit_of_values(values);
  const auto units = unit ? units_of(unit->dimension) : std::span<const Unit>();
  return units.empty() ? "" : units.front().symbol;
}

std::string unit_of(const std::string& name, const ResultsTable& table) {
  const metrics::Column* column = metrics::find_column(name);
  const auto known = kUnits.find(name);
  std::string unit = known != kUnits.end() ? known->second : column ? std::string(column->metric->unit) : "";
  if (unit.empty() && !column)
    if (const auto axis = find_axis(table.axes, name)) unit = unit_of_axis(*axis, table);
  if (unit.starts_with(kMoney)) unit.replace(0, kMoney.size(), currency_of(table));
  return unit;
}

// One part of a list, between commas outside brackets and quotes.
struct Part {
  std::size_t begin, length;
};

std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    quoted = quoted != (c == '\'');
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (at < text.size() && (c != ',' || depth > 0 || quoted)) continue;
    parts.push_back({begin, at - begin});
    begin = at + 1;
  }
  return parts;
}

// How long the "name=" before an expression is; 0 if there is none.
std::size_t name_length(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos || equals == 0) return 0;
  const bool comparison =
      part.substr(equals).starts_with("==") || std::string_view("<>!").find(part[equals - 1]) != std::string_view::npos;
  return comparison ? 0 : equals + 1;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// Whether a metric of this name is better when larger; reports one that is better in neither direction.
std::optional<bool> own_direction(const std::string& name, const SourceRange& where, Diagnostics& diagnostics) {
  const metrics::Column* column = metrics::find_column(name);
  const metrics::Better better = column ? column->metric->better : metrics::Better::neither;
  if (better != metrics::Better::neither) return better == metrics::Better::higher;
  diagnostics.error(where, fmt::format("{} has no better direction of its own", in_quotes(name)), "say --max or --min");
  return std::nullopt;
}

std::optional<Objective> read_objective(std::string_view text, SourceRange where, Direction direction,
                                        const ResultsTable& table, Diagnostics& diagnostics) {
  const std::size_t named = name_length(text);
  where.column += static_cast<int>(named);
  auto expression = Expression::parse(text.substr(named), where, diagnostics);
  if (!expression) return std::nullopt;
  const int errors = diagnostics.errors();
  check_names(*expression, table, diagnostics);
  if (diagnostics.errors() == errors) check_units(*expression, table, diagnostics);
  if (diagnostics.errors() != errors) return std::nullopt;
  if (const auto& names = expression->names(); names.size() == 1 && is_text(names[0].name, table)) {
    diagnostics.error(names[0].where,
                      fmt::format("{} is text: it is neither large nor small", in_quotes(names[0].name)));
    return std::nullopt;
  }
  const std::string name(trimmed(named > 0 ? text.substr(0, named - 1) : text));
  std::optional<bool> maximize = direction == Direction::maximize;
  if (direction == Direction::of_metric) maximize = own_direction(name, where, diagnostics);
  if (!maximize) return std::nullopt;
  return Objective{name, std::move(*expression), *maximize, unit_of(name, table)};
}

// `begin` is where the text stands.
std::vector<Objective> read_list(std::string_view text, const SourceRange& begin, Direction direction,
                                 const ResultsTable& table, Diagnostics& diagnostics) {
  std::vector<Objective> objectives;
  for (const Part& part : parts_of(text)) {
    SourceRange where = begin;
    where.column += static_cast<int>(part.begin);
    where.length = static_cast<int>(part.length);
    auto objective = read_objective(text.substr(part.begin, part.length), where, direction, table, diagnostics);
    if (objective) objectives.push_back(std::move(*objective));
  }
  return objectives;
}

std::vector<const metrics::Column*> columns_in(const Objective& objective) {
  std::vector<const metrics::Column*> columns;
  for (const Expression::Name& name : objective.expression.names())
    if (const metrics::Column* column = metrics::find_column(name.name)) columns.push_back(column);
  return columns;
}

const Estimate* metric_of(const Configuration& configuration, const std::string& name) {
  const metrics::Column* column = metrics::find_column(name);
  if (!column) return nullptr;
  const auto& metric = configuration.metrics[static_cast<std::size_t>(column - metrics::columns().data())];
  return metric ? &*metric : nullptr;
}

std::optional<double> number(const Expression& expression, const Expression::Lookup& lookup) {
  const auto value = expression.evaluate(lookup);
  const double* is = value ? std::get_if<double>(&*value) : nullptr;
  return is ? std::optional(*is) : std::nullopt;
}

}  // namespace

double Objective::loss(double value) const {
  int exponent = 0;
  const double mantissa = std::frexp(maximize ? 0 - value : value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, kBits)), exponent - kBits);
}

std::vector<Objective> read_objectives(std::string_view text, Direction direction, const std::string& source,
                                       const ResultsTable& table, Diagnostics& diagnostics) {
  const auto shared = std::make_shared<const SourceText>(SourceText{source, std::string(text)});
  return read_list(text, {shared, 1, 1}, direction, table, diagnostics);
}

std::vector<Objective> read_objectives(const YamlNode& text, Direction direction, const ResultsTable& table,
                                       Diagnostics& diagnostics) {
  SourceRange begin = text.where;
  if (text.quoted) ++begin.column;
  return read_list(text.text, begin, direction, table, diagnostics);
}

const std::vector<ObjectivePreset>& objective_presets() {
  static const std::string kPerUser = "tokens_per_s_per_user=1/tpot.mean";
  static const std::vector<ObjectivePreset> presets = {
      {"interactivity", "output tokens/s/device against tokens/s/user, which is 1 / tpot.mean",
       "output_tokens_per_s_per_device," + kPerUser, ""},
      {"cost", "cost of a million tokens of answered calls against tokens/s/user", kPerUser,
       "cost_per_million_answered_tokens", "cost_per_million_output_tokens"},
      {"power", "output tokens/s per megawatt of the peak against tokens/s/user",
       "tokens_per_s_per_peak_MW=output_tokens_per_s/(peak_w/1e6)," + kPerUser, ""},
      {"edge", "output tokens/joule against the mean end-to-end latency", "output_tokens_per_joule", "e2e.mean"},
  };
  return presets;
}

bool counts_joules(const metrics::Column& column) {
  return column.metric->section == "energy" || column.metric->key.starts_with("co2");
}

bool counts_joules(const Objective& objective) {
  return std::ranges::any_of(columns_in(objective), [](const auto* column) { return counts_joules(*column); });
}

bool counts_money(const metrics::Column& column) { return column.metric->unit == kMoney; }

bool counts_money(const Expression& expression) {
  return std::ranges::any_of(expression.names(), [](const Expression::Name& name) {
    const metrics::Column* column = metrics::find_column(name.name);
    return column && counts_money(*column);
  });
}

bool counts_money(const Objective& objective) { return counts_money(objective.expression); }

bool counts_emitted(const metrics::Column& column) {
  return column.name == "joules_per_output_token" || column.name == "output_tokens_per_joule" ||
         column.name.ends_with("_per_million_output_tokens");
}

bool counts_emitted(const Objective& objective) {
  return std::ranges::any_of(columns_in(objective), [](const auto* column) { return counts_emitted(*column); });
}

void check_currency(std::string_view what, const SourceRange& where, const ResultsTable& table,
                    Diagnostics& diagnostics) {
  const std::set<std::string> all = currencies_of(table);
  if (all.size() > 1)
    diagnostics.error(where,
                      fmt::format("{} compares amounts of money, and results are in {}: amounts in unlike currencies "
                                  "have no order",
                                  what, fmt::join(all, " and ")),
                      fmt::format("look at one: --where 'currency == \"{}\"'", *all.begin()));
}

Counted counted_in(const std::vector<Objective>& objectives) {
  Counted counted;
  for (const Objective& objective : objectives) {
    counted.joules = counted.joules || counts_joules(objective);
    counted.money = counted.money || counts_money(objective);
    counted.emitted = counted.emitted || counts_emitted(objective);
  }
  return counted;
}

std::optional<Estimate> estimate_of(const Objective& objective, const ResultsTable& table,
                                    const Configuration& configuration) {
  const Expression::Lookup lookup = lookup_in(table, configuration);
  const auto value = number(objective.expression, lookup);
  if (!value) return std::nullopt;
  Estimate estimate{*value, *value, *value};

  std::map<std::string, const Estimate*, std::less<>> uncertain;
  constexpr std::size_t kMost = 8;  // metrics in one expression; more stay at their values
  for (const Expression::Name& name : objective.expression.names()) {
    const Estimate* metric = metric_of(configuration, name.name);
    if (metric && metric->low < metric->high && uncertain.size() < kMost) uncertain.emplace(name.name, metric);
  }
  for (std::size_t corner = 0; corner < std::size_t{1} << uncertain.size() && !uncertain.empty(); ++corner) {
    const auto at_corner = [&](std::string_view name) -> std::optional<Value> {
      const auto found = uncertain.find(name);
      if (found == uncertain.end()) return lookup(name);
      const auto bit = static_cast<std::size_t>(std::distance(uncertain.begin(), found));
      return (corner >> bit & 1) != 0 ? found->second->high : found->second->low;
    };
    const auto end = number(objective.expression, at_corner);
    if (!end) continue;
    estimate.low = std::min(estimate.low, *end);
    estimate.high = std::max(estimate.high, *end);
  }
  return estimate;
}

}  // namespace llmscape::explore
