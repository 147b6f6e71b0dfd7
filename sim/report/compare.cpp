// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <fmt/format.h>
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

std::string better(double a, double b, Better direction) {
  if (direction == Better::neither) return "";
  if (a == b) return "same";
  return (b > a) == (direction == Better::higher) ? "B" : "A";
}

void add_row(Table& table, const std::string& name, const Metric& metric, std::optional<double> a,
             std::optional<double> b) {
  if (!a && !b) return;
  const bool both = a && b;
  table.row({name, shown(a, metric.unit), shown(b, metric.unit),
             both && *a != 0 ? fmt::format("{:.3f}x", *b / *a) : "-", both ? better(*a, *b, metric.better) : ""});
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

}  // namespace

std::optional<std::string> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                                   Diagnostics& diagnostics) {
  const Json first = read_result(a, diagnostics), second = read_result(b, diagnostics);
  if (first.is_null() || second.is_null()) return std::nullopt;
  Table table({"metric", "A", "B", "B / A", "better"});
  for (const metrics::Column& column : metrics::columns())
    if (column.statistic != "p90" && column.statistic != "p95" && column.statistic != "max")
      add_row(table, column.name, *column.metric, result::number_in(first, column), result::number_in(second, column));
  return about("A", a, first) + about("B", b, second) + unlike_boundaries(first, second) +
         unlike_currencies(first, second) + '\n' + table.text();
}

}  // namespace llmscape::report
