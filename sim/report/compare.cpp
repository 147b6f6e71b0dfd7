// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "sim/report/result_file.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using metrics::Better;
using metrics::Metric;

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

std::string shown(std::optional<double> value, std::string_view unit) {
  if (!value) return "-";
  if (unit == "s") return duration(*value);
  if (unit == "share") return percent(*value);
  return amount(*value);
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
  table.row({column.name, shown(a, column.metric->unit), shown(b, column.metric->unit),
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
  const auto currency = [](const Json& of) {
    return of.contains("cost") && of["cost"].is_object() ? of["cost"].value("currency", "") : std::string();
  };
  const std::string first = currency(a), second = currency(b);
  if (first.empty() || second.empty() || first == second) return "";
  return fmt::format("warning: costs are in unlike currencies: A in {}, B in {}\n", first, second);
}

// Windows of one length, to a thousandth: sums over them can be compared.
bool alike(const Json& a, const Json& b) {
  const double first = a.value("window_s", 0.0), second = b.value("window_s", 0.0);
  return std::abs(first - second) <= 1e-3 * std::max(first, second);
}

bool is_sum(const Metric& metric) {
  return metric.key == "total_joules" || metric.key == "total_cost" || metric.key == "co2_g";
}

}  // namespace

std::optional<std::string> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                                   Diagnostics& diagnostics) {
  const Json first = read_result(a, diagnostics), second = read_result(b, diagnostics);
  if (first.is_null() || second.is_null()) return std::nullopt;
  Table table({"metric", "A", "B", "B / A", "better"});
  const bool sums = alike(first, second);
  for (const metrics::Column& column : metrics::columns())
    if (column.statistic != "p90" && column.statistic != "p95" && column.statistic != "max")
      add_row(table, column, first, second, sums || !is_sum(*column.metric));
  return about("A", a, first) + about("B", b, second) + unlike_boundaries(first, second) +
         unlike_currencies(first, second) + '\n' + table.text();
}

}  // namespace llmscape::report
