// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/objective.hpp"
#include "sim/explore/results.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {

// The data of the page, column by column: numbers are short, and a configuration is a place in every list.
class PageColumns {
 public:
  explicit PageColumns(const explore::ResultsTable& table);

  // The column that holds an objective: a metric, an axis, or one of its own that is made when it is first asked for.
  // Empty where no configuration has a value.
  std::string of(const explore::Objective& objective);
  // The axis whose values colours can tell apart: the hardware, else the first of few values; empty if there is none.
  [[nodiscard]] std::string default_group() const;

  [[nodiscard]] const std::vector<explore::Configuration>& configurations() const { return configurations_; }
  // {"name", "short", "role": what it varies (explore::kAxisRoleNames), "texts": [...], "numbers": [...] or null, "of":
  // [place among the texts, ...], "conditions": texts as conditions compare with them, where these differ}, ...
  [[nodiscard]] const nlohmann::ordered_json& axes() const { return axes_; }
  // {"name", "unit", "better", "definition", "joules", "money", "emitted": true where they (or all tokens that were
  // emitted) count in it, "over": ["window", "slices"] that must be alike where it is compared
  // (explore/comparable.hpp), "instead": what to look at else, "values": [...], "low": [...], "high": [...]}, ...
  [[nodiscard]] const nlohmann::ordered_json& metrics() const { return metrics_; }

 private:
  void add_metric(const std::string& name, std::string_view unit, std::string_view better, std::string_view definition,
                  const explore::Counted& counted, const std::vector<const metrics::Column*>& guarded,
                  const std::vector<std::optional<explore::Estimate>>& values);

  const explore::ResultsTable& table_;
  std::vector<explore::Configuration> configurations_;
  nlohmann::ordered_json axes_ = nlohmann::ordered_json::array(), metrics_ = nlohmann::ordered_json::array();
};

}  // namespace llmscape::report
