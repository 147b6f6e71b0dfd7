// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/plan_checks.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "base/process_pool.hpp"
#include "sim/explore/objective.hpp"
#include "sim/explore/results.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {
namespace {

void check_slo(const YamlNode& slo, const ResultsTable& table, Diagnostics& diagnostics) {
  if (!slo.is_scalar() || slo.text.empty()) return;
  SourceRange where = slo.where;
  if (slo.quoted) ++where.column;
  const auto expression = Expression::parse(slo.text, where, diagnostics);
  if (!expression) return;
  check_names(*expression, table, diagnostics);
  check_units(*expression, table, diagnostics);
}

void check_objectives(const YamlNode& objectives, const ResultsTable& table, Diagnostics& diagnostics) {
  std::set<std::string> names;
  for (const YamlNode::Entry& entry : objectives.entries)
    for (const YamlNode& item : entry.value.items) {
      if (!item.is_scalar()) continue;  // its field says what it is
      const Direction direction = entry.key == "maximize" ? Direction::maximize : Direction::minimize;
      for (const Objective& objective : read_objectives(item, direction, table, diagnostics))
        if (!names.insert(objective.name).second)
          diagnostics.error(item.where, fmt::format("the objective {} stands twice", in_quotes(objective.name)));
    }
}

}  // namespace

void check_judgement(const YamlNode& plan, const std::vector<std::string>& columns, Diagnostics& diagnostics) {
  ResultsTable table;
  table.axes = columns;
  if (const YamlNode* slo = plan.find("slo")) check_slo(*slo, table, diagnostics);
  if (const YamlNode* objectives = plan.find("objectives")) check_objectives(*objectives, table, diagnostics);
}

void check_limits(const PlanConfig& config, const YamlNode& plan, Diagnostics& diagnostics) {
  const auto taken = address_space();
  if (!config.limits.memory || !taken || *config.limits.memory > *taken) return;
  const YamlNode& memory = *plan.find("limits")->find("memory");
  constexpr double kMegabyte = 1e6;
  diagnostics.error(memory.where,
                    fmt::format("'memory' is the address space of a process, and this program has {:.0f} MB before it "
                                "runs a point: a limit of {} holds nothing back",
                                taken->si() / kMegabyte, memory.text),
                    fmt::format("write more than that: {:.0f} MB", 2 * taken->si() / kMegabyte));
}

std::int64_t first_seed(const YamlNode& base, std::int64_t repeat, Diagnostics& diagnostics) {
  using Limits = std::numeric_limits<std::int64_t>;
  const YamlNode* seed = base.find("seed");
  if (!seed) return 1;
  const FieldInfo& field = *scenario::scenario_fields().info().find("seed");
  return detail::read_integer(*seed, field, diagnostics, Limits::min(), Limits::max() - (repeat - 1)).value_or(1);
}

}  // namespace llmscape::explore
