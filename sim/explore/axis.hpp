// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/explore/plan_config.hpp"

namespace llmscape::explore {

// One value of an axis: what the table calls it and what it lays over the scenario.
struct Choice {
  std::vector<std::string> values;     // one for each column of the axis
  std::vector<std::string> overrides;  // "path=value"
};

// Values of an interval that are told apart: that an optimiser tries, and that have digits of their own.
inline constexpr std::size_t kIntervalValues = 4096;

// Any value between two ends, in one unit.
struct Interval {
  double low = 0, high = 0;
  std::string unit;  // with the space before it: " /s"
  bool log = false, whole = false;
  int digits = 6;  // that values are written with which are not whole
};

// What varies on its own. A zip has several columns, the others one.
struct Axis {
  std::vector<std::string> columns;
  std::vector<Choice> choices;       // at least one, or ...
  std::optional<Interval> interval;  // ... a continuous axis
  SourceRange where{};               // of its name in the plan

  // The choice at `u` in [0, 1): of `choices`, evenly; or a value of the interval.
  [[nodiscard]] Choice at(double u) const;
};

// Variants, zips and axes of the plan, in this order and each in that of the file. Reports names that stand twice, that
// the table of results has for itself, and without a sample, where one is needed, axes that take any value.
std::vector<Axis> read_axes(const PlanConfig& config, bool needs_sample, Diagnostics& diagnostics);

}  // namespace llmscape::explore
