// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/report/frontier.hpp"
#include "sim/report/scatter.hpp"

namespace llmscape::report {
namespace {

using explore::Frontier;
using explore::Objective;
using explore::ParetoPoint;

// "ttft p99", "output tokens/joule".
std::string spoken(const Objective& objective) {
  std::string words;
  const std::string& name = objective.name;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool per = name.compare(at, 5, "_per_") == 0;
    if (per) at += 4;
    words += per ? '/' : name[at] == '_' || name[at] == '.' ? ' ' : name[at];
  }
  return words;
}

double loss(const FrontierView& view, const ParetoPoint& point, std::size_t objective) {
  return view.query.objectives[objective].loss(point.values[objective].value);
}

// Of the points that `admits` lets in, the best in the first objective; nothing if there is none.
template <class Admits>
const ParetoPoint* best_of(const FrontierView& view, const Admits& admits) {
  const ParetoPoint* best = nullptr;
  for (const ParetoPoint& point : view.answer.points)
    if (admits(point) && (!best || loss(view, point, 0) < loss(view, *best, 0))) best = &point;
  return best;
}

// Whether it is no worse than the winner in all objectives but the first.
bool keeps_up(const FrontierView& view, const ParetoPoint& point, const ParetoPoint& winner) {
  for (std::size_t k = 1; k < point.values.size(); ++k)
    if (loss(view, point, k) > loss(view, winner, k)) return false;
  return true;
}

// "ttft p99 180 ms, e2e p99 2 s": the objectives from `first` on.
std::string values(const FrontierView& view, const ParetoPoint& point, std::size_t first) {
  std::string text;
  for (std::size_t k = first; k < point.values.size(); ++k) {
    const Objective& objective = view.query.objectives[k];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", spoken(objective),
                        in_unit(point.values[k].value, objective.unit));
  }
  return text;
}

bool overlap(const explore::Estimate& a, const explore::Estimate& b) { return a.low <= b.high && b.low <= a.high; }

// How the winner stands against the others, behind "... meets the SLO".
std::string against(const FrontierView& view, const ParetoPoint& winner, const ParetoPoint* rival) {
  const Objective& first = view.query.objectives[0];
  const auto& own = winner.values[0];
  const std::string value = in_unit(own.value, first.unit);
  if (!rival)
    return fmt::format("with {} {}{}", spoken(first), value,
                       view.query.group ? "; no other group does" : ", the best of the sweep");
  const auto& other = rival->values[0];
  const std::string label = label_of(view, rival->configuration), other_value = in_unit(other.value, first.unit);
  if (other.value == 0) return fmt::format("with {} {} instead of {} of {}", spoken(first), value, other_value, label);
  return fmt::format("at {:.3g}x the {} of {} ({} instead of {}){}", own.value / other.value, spoken(first), label,
                     value, other_value, overlap(own, other) ? ", but their intervals overlap" : "");
}

// Labels that name the group too.
FrontierView with_group(FrontierView view) {
  const auto axis = view.query.group ? explore::find_axis(view.table.axes, view.query.group->text()) : std::nullopt;
  auto& axes = view.label_axes;
  if (axis && !axes.empty() && std::ranges::find(axes, *axis) == axes.end()) axes.insert(axes.begin(), *axis);
  return view;
}

}  // namespace

std::string winner(const FrontierView& asked) {
  const FrontierView view = with_group(asked);
  if (view.answer.points.empty()) return "";
  const auto all = [](const ParetoPoint&) { return true; };
  if (view.query.slo) {
    const ParetoPoint& winner = *best_of(view, all);
    const auto others = [&](const ParetoPoint& point) { return point.group != winner.group; };
    return fmt::format("{} meets {} {}", label_of(view, winner.configuration), view.query.slo->text(),
                       against(view, winner, best_of(view, others)));
  }
  const ParetoPoint& winner = view.answer.knee ? view.answer.points[*view.answer.knee] : *best_of(view, all);
  const auto others = [&](const ParetoPoint& point) {
    return point.group != winner.group && keeps_up(view, point, winner);
  };
  if (view.answer.groups.size() > 1)
    return fmt::format("{} reaches {} {}", label_of(view, winner.configuration), values(view, winner, 1),
                       against(view, winner, best_of(view, others)));
  return fmt::format("{} is {}: {}", label_of(view, winner.configuration),
                     view.answer.knee ? "where the frontier bends" : "the best in the first objective",
                     values(view, winner, 0));
}

}  // namespace llmscape::report
