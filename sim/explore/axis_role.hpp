// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/expression.hpp"
#include "sim/explore/objective.hpp"
#include "sim/explore/results.hpp"

namespace llmscape::explore {

// What an axis of a sweep varies, by the paths that it sets (those of variants stand in the sweep's plan.yaml).
enum class AxisRole {
  hardware,  // devices, links, their number, or the parallel plan over them; whatever else goes with them
  load,      // how much arrives, and for how long: rates, users, requests. A frontier runs along it
  serving,   // a policy or a limit of the engine
  workload,  // all else: what is asked, of which model, under which limits
};
inline constexpr std::string_view kAxisRoleNames[] = {"hardware", "load", "serving", "workload"};

// One for each axis of the table.
std::vector<AxisRole> axis_roles(const ResultsTable& table);

// The configurations of a table that may be compared: their axes are equal but for hardware and load, and for `group`
// where that is a policy; where joules are `counted`, these include the same things, and amounts of money are in one
// currency. Figures of unlike work are no ratio, and neither are the joules of a chip and of a board.
struct Slice {
  std::string name;                       // "workload=rag": what other slices have otherwise; empty if there is but one
  std::vector<std::string> keys, values;  // the same: "workload", "rag"
  ResultsTable table;                     // its rows alone
};
std::vector<Slice> comparable_slices(const ResultsTable& table, std::optional<std::size_t> group,
                                     const Counted& counted = {});

// The rows of the configurations for which the condition holds.
ResultsTable rows_where(const ResultsTable& table, const Expression& condition);

}  // namespace llmscape::explore
