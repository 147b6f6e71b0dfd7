// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/report/frontier.hpp"

namespace llmscape::report {

// One question to a sweep, and what it needs to live; objectives in their own direction, capital to be small.
struct Question {
  Question(explore::ResultsTable results, const std::string& objectives, const std::string& slo,
           const std::string& group)
      : table(std::move(results)) {
    Diagnostics diagnostics;
    const auto direction =
        objectives.starts_with("capital") ? explore::Direction::minimize : explore::Direction::of_metric;
    query.objectives = explore::read_objectives(objectives, direction, "", table, diagnostics);
    if (!slo.empty()) query.slo = Expression::parse(slo, {}, diagnostics);
    if (!group.empty()) query.group = Expression::parse(group, {}, diagnostics);
    answer = explore::pareto(table, query);
  }
  [[nodiscard]] FrontierView view() const { return {table, query, answer, labels}; }

  explore::ResultsTable table;
  explore::ParetoQuery query;
  explore::ParetoAnswer answer;
  std::vector<std::size_t> labels;
};

}  // namespace llmscape::report
