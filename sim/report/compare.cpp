// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/objective.hpp"
#include "sim/report/result_file.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using metrics::Better;

std::string text_at(const Json& result, const char* pointer) {
  const Json value = result.value(Json::json_pointer(pointer), Json());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string about(std::string_view letter, const std::filesystem::path& path, const Json& result) {
  const std::string state = text_at(result, "/verdict/state");
  return fmt::format("{}  {}: {} on {}, seed {}, {}\n", letter, path.string(), text_at(result, "/model"),
                     text_at(result, "/hardware"), text_at(result, "/seed"),
                     state == "valid" ? state : "NOT VALID, " + state);
}

std::string currency_in(const Json& result) {
  const Json currency = result.value(Json::json_pointer("/cost/currency"), Json());
  return currency.is_string() ? currency.get<std::string>() : "";
}

std::string shown(std::optional<double> value, std::string_view unit, const Json& result) {
  if (!value) return "-";
  return with_unit(*value, unit == "currency" ? currency_in(result) : unit);
}

constexpr double kSame = 1e-9;  // relative: sums of the same terms in another order differ by less

std::string better(double a, double b, double scale, Better direction) {
  if (direction == Better::neither) return "";
  if (std::abs(b - a) <= kSame * scale) return "same";
  return (b > a) == (direction == Better::higher) ? "B" : "A";
}

void add_row(Table& table, const metrics::Column& column, const Json& first, const Json& second, bool comparable) {
  const std::optional<double> a = result::number_in(first, column), b = result::number_in(second, column);
  if (!a && !b) return;
  const bool both = a && b;
  double scale = both ? std::max(std::abs(*a), std::abs(*b)) : 0;
  if (column.statistic == "std")  // what is left of equal values is rounding of their mean
    if (const metrics::Column* mean = metrics::find_column(std::string(column.metric->key) + ".mean"))
      for (const Json* result : {&first, &second})
        scale = std::max(scale, std::abs(result::number_in(*result, *mean).value_or(0)));
  table.row({column.name, shown(a, column.metric->unit, first), shown(b, column.metric->unit, second),
             both && *a != 0 ? fmt::format("{:.3f}x", *b / *a) : "-",
             both && comparable ? better(*a, *b, scale, column.metric->better) : ""});
}

// Joules are comparable only where they include the same.
std::string unlike_boundaries(const Json& a, const Json& b) {
  if (!a.contains("energy") || !b.contains("energy")) return "";
  const std::string first = a["energy"].value("boundary", "unstated"),
                    second = b["energy"].value("boundary", "unstated");
  if (first == second) return "";
  return fmt::format("warning: joules include unlike things: A counts {}, B {} (energy_boundary of the devices)\n",
                     first, second);
}

std::string unlike_currencies(const Json& a, const Json& b) {
  const std::string first = currency_in(a), second = currency_in(b);
  if (first.empty() || second.empty() || first == second) return "";
  return fmt::format("warning: costs are in unlike currencies: A in {}, B in {}\n", first, second);
}

explore::Extent extent_of(const Json& result) {
  const auto number = [&](const char* name) { return result::number_in(result, *metrics::find_column(name)); };
  return {number("window_s"), number("simulated_s"), number("completed"), number("peak_window_s")};
}

bool equal_requests(const Json& a, const Json& b) {
  const Json::json_pointer count("/requests/injected");
  const Json first = a.value(count, Json()), second = b.value(count, Json());
  return first.is_number() && first == second;
}

}  // namespace

std::optional<std::string> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                                   Diagnostics& diagnostics) {
  const Json first = read_result(a, diagnostics), second = read_result(b, diagnostics);
  if (first.is_null() || second.is_null()) return std::nullopt;
  Table table({"metric", "A", "B", "B / A", "better"});
  const explore::Extent extent = extent_of(first), other = extent_of(second);
  const bool counters = equal_windows(extent, other) || equal_requests(first, second);
  const std::string joules = unlike_boundaries(first, second), money = unlike_currencies(first, second);
  const auto comparable = [&](const metrics::Column& column) {
    if (!explore::comparable(*column.metric, extent, other)) return false;
    if (explore::is_counter(*column.metric) && !counters) return false;
    if (explore::counts_joules(column) && !joules.empty()) return false;
    return !explore::counts_money(column) || money.empty();
  };
  for (const metrics::Column& column : metrics::columns())
    if (column.statistic != "p90" && column.statistic != "p95" && column.statistic != "max")
      add_row(table, column, first, second, comparable(column));
  return about("A", a, first) + about("B", b, second) + joules + money + '\n' + table.text();
}

}  // namespace llmscape::report
