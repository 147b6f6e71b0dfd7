// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/explore/pareto.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {

// The frontiers of a sweep, and how their configurations are called.
struct FrontierView {
  const explore::ResultsTable& table;
  const explore::ParetoQuery& query;
  const explore::ParetoAnswer& answer;
  std::vector<std::size_t> label_axes{};  // of the table; empty: all
  std::size_t width = kPageColumns;       // of texts for terminals
};

// "edge=4 rate=8 /s", or the value alone where labels name one axis.
std::string label_of(const FrontierView& view, std::size_t configuration);

// The unit of an objective in one currency, where the results of the whole table are in several.
std::string unit_in(const explore::Objective& objective, const explore::ResultsTable& all, const std::string& currency);

// The value of an axis as a condition compares with it: names in quotes, quantities as they are.
std::string in_condition(const std::string& value);
// The same where a shell reads it between single quotes.
std::string in_shell(std::string text);

// How many points of a sweep failed; empty where none did.
std::string failed_notice(std::size_t failed);

// In one sentence which configuration wins: the best in the first objective of those that meet the SLO, or the knee
// where there is none; against the best of another group. With two objectives both are read off their frontiers where
// the second is equal: at the limit that the SLO sets to it, or at the winner; with more, against the best point that
// is no worse in the others. Workloads, models and policies that differ are not compared: each of theirs has a sentence
// of its own, on a line that begins with it; so have joules that include unlike things, and groups that are alone. With
// one objective it is the best of all. Of joules that follow from assumed figures the share is told. Empty without
// points.
std::string winner(const FrontierView& view);

// What the picture and the tables mix that winner() does not compare, and how to look at one part; empty where nothing.
std::string mixture_notice(const FrontierView& view);

// For terminals: the sentence, the scatter of the first two objectives, the points of the frontiers, what was left out;
// of one objective the sentence and the ten best.
std::string frontier_text(const FrontierView& view, bool colour);
// The configurations that dominate one (by its place in the answer), for terminals.
std::string dominators_text(const FrontierView& view, std::size_t configuration);

// All points that are on a frontier, tied with one or not told apart from one. JSON: schema pareto/1.
std::string frontier_json(const FrontierView& view);
// The same as pareto.csv: columns `group`, `point`, `id`, one for each axis, `verdict`, `standing` ("frontier", "tied",
// "alike"), `best_of_all`, `knee`, then for each objective its value and `.low` and `.high`.
std::string frontier_csv(const FrontierView& view);

}  // namespace llmscape::report
