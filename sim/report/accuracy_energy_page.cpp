// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/table.hpp"
#include "sim/report/accuracy_sections.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using validation::Comparison;

struct EnergyMetric {
  std::string_view metric, name;
  double target = 0;      // median error; 0: none
  double least_rank = 0;  // 0: none
};
constexpr std::array kEnergyMetrics = {EnergyMetric{"mean_w", "power", 0.08, 0},
                                       EnergyMetric{"joules_per_output_token", "joules of an output token", 0.15, 0.95},
                                       EnergyMetric{"output_tokens_per_s", "output tokens per second", 0, 0},
                                       EnergyMetric{"itl", "time between tokens", 0, 0}};

const Comparison* find(const std::vector<Comparison>& comparisons, std::string_view metric) {
  const auto found = std::ranges::find(comparisons, metric, &Comparison::metric);
  return found == comparisons.end() ? nullptr : &*found;
}

std::string rank(const Comparison& c) { return c.rank ? fmt::format("{:.3f}", *c.rank) : "-"; }

std::string target(const EnergyMetric& shown) {
  if (shown.target == 0) return "";
  std::string text = fmt::format("{:.0f} %", 100 * shown.target);
  if (shown.least_rank > 0) text += fmt::format(", rank {:.2f}", shown.least_rank);
  return text;
}

void add_rows(Table& table, const std::string& way, const std::vector<Comparison>& comparisons) {
  for (const EnergyMetric& shown : kEnergyMetrics)
    if (const Comparison* c = find(comparisons, shown.metric))
      table.row({way, std::string(shown.name), fmt::format("{}", c->count), percent(c->error_median),
                 percent(c->error_p90), signed_percent(c->bias), rank(*c), target(shown)});
}

std::string by_model(const EnergyAccuracy& energy) {
  std::vector<std::string> header = {"model", "rows", "power", "bias"};
  for (const std::string& way : energy.ways) header.push_back("J/token, " + way);
  header.emplace_back("rank");
  Table table(std::move(header));
  for (const EnergyRows& rows : energy.by_model) {
    const Comparison* power = find(rows.ways.front(), "mean_w");
    if (!power) continue;
    std::vector<std::string> cells = {rows.name, fmt::format("{}", power->count), percent(power->error_median),
                                      signed_percent(power->bias)};
    for (const auto& way : rows.ways) {
      const Comparison* joules = find(way, "joules_per_output_token");
      cells.push_back(joules ? percent(joules->error_median) : "-");
    }
    const Comparison* joules = find(rows.ways.front(), "joules_per_output_token");
    cells.push_back(joules ? rank(*joules) : "-");
    table.row(std::move(cells));
  }
  return table.markdown();
}

}  // namespace

std::string energy_section(const EnergyAccuracy& energy) {
  Table all({"given", "metric", "rows", "median", "p90", "bias", "rank", "target"});
  for (std::size_t i = 0; i < energy.ways.size(); ++i) add_rows(all, energy.ways[i], energy.all.ways[i]);
  for (const auto& way : energy.apart.ways) add_rows(all, energy.apart.name, way);
  std::string text = "## Watts and joules\n\n" + energy.about + "\n\n" + all.markdown() + '\n';
  text +=
      "Joules of a token are watts over tokens per second, and watts hardly depend on the prompts: what the length of "
      "the prompts moves is the rate. With the measured rate under the predicted watts, joules of a token are as far "
      "off as the watts. A host that makes every step as long as it was measured lets the device rest in between, and "
      "the watts come out too low: part of the time that is missing is time of the GPU.\n\n";
  text += by_model(energy) + '\n';
  for (const std::string& note : energy.notes) text += "- " + note + '\n';
  return text + '\n';
}

}  // namespace llmscape::report
