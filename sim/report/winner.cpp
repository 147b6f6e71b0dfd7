// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/explore/axis_role.hpp"
#include "sim/explore/slo.hpp"
#include "sim/report/frontier.hpp"
#include "sim/report/scatter.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using explore::Frontier;
using explore::Objective;
using explore::ParetoPoint;
using explore::ResultsTable;

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

// Whether it is better in the first objective in which they differ.
bool precedes(const FrontierView& view, const ParetoPoint& one, const ParetoPoint& other) {
  for (std::size_t k = 0; k < one.values.size(); ++k)
    if (loss(view, one, k) != loss(view, other, k)) return loss(view, one, k) < loss(view, other, k);
  return false;
}

// Of the points that `admits` lets in, the best in the first objective, of equals in the next; nothing if there is
// none. So none of them dominates it.
template <class Admits>
const ParetoPoint* best_of(const FrontierView& view, const Admits& admits) {
  const ParetoPoint* best = nullptr;
  for (const ParetoPoint& point : view.answer.points)
    if (admits(point) && (!best || precedes(view, point, *best))) best = &point;
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
                        with_unit(point.values[k].value, objective.unit));
  }
  return text;
}

// The share of its joules that follows from assumed figures, where joules are looked at and that share is not small.
double assumed_share(const FrontierView& view, const ParetoPoint& point) {
  static const auto kColumn =
      static_cast<std::size_t>(metrics::find_column("assumed_share") - metrics::columns().data());
  if (!counted_in(view.query.objectives).joules) return 0;
  const auto& share = view.answer.configurations[point.configuration].metrics[kColumn];
  return share && share->value >= 0.005 ? share->value : 0;
}

// The share of its tokens that was in no answer, of calls that got none or answered again, where an objective counts
// those too; 0 where they are few.
double unanswered_share(const FrontierView& view, const ParetoPoint& point) {
  static const auto kColumn =
      static_cast<std::size_t>(metrics::find_column("answered_share") - metrics::columns().data());
  if (!counted_in(view.query.objectives).emitted) return 0;
  const auto& share = view.answer.configurations[point.configuration].metrics[kColumn];
  return share && 1 - share->value > explore::kMostLost ? 1 - share->value : 0;
}

constexpr std::string_view kAssumedJoules = "joules are assumed", kUnansweredTokens = "tokens were in no answer";

// " (100.0 % of its joules are assumed; 82.0 % of its tokens were in no answer)"; empty where there is nothing to say.
std::string remarks(const FrontierView& view, const ParetoPoint& point) {
  std::string text;
  const auto add = [&text](double share, std::string_view what) {
    if (share > 0) text += fmt::format("{}{} of its {}", text.empty() ? "" : "; ", percent(share), what);
  };
  add(assumed_share(view, point), kAssumedJoules);
  add(unanswered_share(view, point), kUnansweredTokens);
  return text.empty() ? text : fmt::format(" ({})", text);
}

// "; 100.0 % and 0.0 % of their joules are assumed; ..."
std::string remarks(const FrontierView& view, const ParetoPoint& one, const ParetoPoint& other) {
  std::string text;
  const auto add = [&text](double first, double second, std::string_view what) {
    if (first == 0 && second == 0) return;
    const std::string a = percent(first), b = percent(second);
    const auto whose = what.find(' ');  // "joules" of "joules are assumed"
    if (a == b) text += fmt::format("; {} of the {} of both{}", a, what.substr(0, whose), what.substr(whose));
    else text += fmt::format("; {} and {} of their {}", a, b, what);
  };
  add(assumed_share(view, one), assumed_share(view, other), kAssumedJoules);
  add(unanswered_share(view, one), unanswered_share(view, other), kUnansweredTokens);
  return text;
}

// Where one of them has an interval.
bool overlap(const explore::Estimate& a, const explore::Estimate& b) {
  return (a.low < a.high || b.low < b.high) && a.low <= b.high && b.low <= a.high;
}

// A group's best value of the first objective at a bound of the second, along its frontier.
struct Reached {
  std::size_t group;
  explore::Estimate value;
  const ParetoPoint* near;  // the point within the bound
  bool last = false;        // nothing was run that comes nearer the bound
};

// What the frontier of a group gives at `bound` (a loss) of the second objective: linear between its neighbours there,
// its last point's where the bound is looser than all. Nothing where even its tightest point is beyond.
std::optional<Reached> along(const FrontierView& view, std::size_t place_of_group, double bound) {
  const Frontier& group = view.answer.groups[place_of_group];
  const ParetoPoint* looser = nullptr;  // points come from the loosest in the second objective to the tightest
  for (const std::size_t place : group.points) {
    const ParetoPoint& point = view.answer.points[place];
    const double at = loss(view, point, 1);
    if (at <= bound) {
      if (!looser || at == bound) {
        // Points behind the frontier's end that are worse show that it does end there.
        const bool last = std::ranges::none_of(view.answer.points, [&](const ParetoPoint& other) {
          return other.group == place_of_group && loss(view, other, 1) > at;
        });
        return Reached{place_of_group, point.values[0], &point, last && at < bound};
      }
      const double share = (bound - at) / (loss(view, *looser, 1) - at);
      const auto mixed = [share](double a, double b) { return a + share * (b - a); };
      const auto &a = point.values[0], &b = looser->values[0];
      const explore::Estimate value{mixed(a.value, b.value), mixed(a.low, b.low), mixed(a.high, b.high)};
      return Reached{place_of_group, value, &point};
    }
    looser = &point;
  }
  return std::nullopt;
}

// The best of the groups there but for one; nothing if none gets there.
std::optional<Reached> best_along(const FrontierView& view, std::size_t but, double bound) {
  std::optional<Reached> best;
  const Objective& first = view.query.objectives[0];
  for (std::size_t group = 0; group < view.answer.groups.size(); ++group) {
    if (group == but) continue;
    const auto reached = along(view, group, bound);
    if (reached && (!best || first.loss(reached->value.value) < first.loss(best->value.value))) best = reached;
  }
  return best;
}

struct Bound {
  double value;
  std::string text;  // with all the digits that were typed
};

// The bound that the SLO sets to the second objective, where it sets that and no other, however it is written:
// "ttft.p99 <= 200 ms", "0.2 s > ttft.p99".
std::optional<Bound> bound_of(const FrontierView& view) {
  const explore::ParetoQuery& query = view.query;
  if (!query.slo || query.objectives.size() != 2) return std::nullopt;
  Diagnostics unheard;  // what is no list of limits is no bound
  const auto limits = explore::read_slo(query.slo->text(), "", view.table, unheard);
  const Objective& second = query.objectives[1];
  if (limits.size() != 1 || limits.front().at_most == second.maximize) return std::nullopt;
  const auto limit = explore::metric_limit(limits.front());
  if (!limit || limit->column != metrics::find_column(second.expression.text())) return std::nullopt;
  std::string text = with_unit(limit->bound, second.unit);
  std::string digits = text;
  std::erase(digits, ',');
  const Value shown = value_of(digits);
  const double* read = std::get_if<double>(&shown);
  const bool rounded = read && std::abs(*read - limit->bound) > 1e-9 * std::abs(limit->bound);
  return Bound{limit->bound, rounded ? limit->number : text};
}

// `how`: "with at most" or "with at least" where the ratio is a bound only.
std::string compared(const FrontierView& view, const explore::Estimate& own, const explore::Estimate& other,
                     const std::string& rival, const std::string& where, const std::string& remarks,
                     const std::string& how = "at") {
  const Objective& first = view.query.objectives[0];
  const std::string value = with_unit(own.value, first.unit), other_value = with_unit(other.value, first.unit);
  if (other.value == 0)
    return fmt::format("with {} {} instead of {} of {}{}{}", spoken(first), value, other_value, rival, where, remarks);
  return fmt::format("{} {} the {} of {} ({} instead of {}{}{}){}", how, ratio_text(own.value / other.value),
                     spoken(first), rival, value, other_value, where, remarks,
                     overlap(own, other) ? ", but their intervals overlap" : "");
}

constexpr std::string_view kNoOther = "; no other group does";

// How the winner stands against the others, behind "... meets the SLO": by its own value. With two objectives the best
// of the other groups is read off its frontier at the limit of the second, as its points may lie before it by chance;
// without an SLO where the second is equal.
std::string against(const FrontierView& view, const ParetoPoint& winner) {
  const Objective& first = view.query.objectives[0];
  const std::string alone =
      fmt::format("with {} {}{}", spoken(first), with_unit(winner.values[0].value, first.unit), remarks(view, winner));
  if (!view.query.group) return alone + ", the best of those compared";
  const auto bound = bound_of(view);
  if (view.query.objectives.size() == 2 && (bound || !view.query.slo)) {
    const Objective& second = view.query.objectives[1];
    const double at = second.loss(bound ? bound->value : winner.values[1].value);
    // What crosses the limit lies between a configuration that meets it and one that does not.
    explore::ParetoQuery open = view.query;
    open.slo.reset();
    const explore::ParetoAnswer beyond = explore::pareto(view.table, open);
    const FrontierView whole{view.table, open, beyond, view.label_axes};
    const auto own = std::ranges::find(beyond.points, winner.configuration, &ParetoPoint::configuration);
    const auto rival = best_along(whole, own->group, at);
    if (!rival) return alone + std::string(kNoOther);
    std::string where = fmt::format(", read off its frontier at {} {}", spoken(second),
                                    bound ? bound->text : with_unit(second.loss(at), second.unit));
    std::string how = "at";
    if (rival->last) {
      // Nearer the bound it may do better still.
      how = first.maximize ? "with at most" : "with at least";
      where += fmt::format(": its last point is at {}", with_unit(rival->near->values[1].value, second.unit));
    }
    return compared(view, winner.values[0], rival->value, beyond.groups[rival->group].name, where,
                    remarks(whole, *own, *rival->near), how);
  }
  const ParetoPoint* rival = best_of(view, [&](const ParetoPoint& point) {
    return point.group != winner.group && (view.query.slo || keeps_up(view, point, winner));
  });
  if (!rival) return alone + std::string(kNoOther);
  return compared(view, winner.values[0], rival->values[0], label_of(view, rival->configuration), "",
                  remarks(view, winner, *rival));
}

// Labels that name the group too.
FrontierView with_group(FrontierView view) {
  const auto axis = view.query.group ? explore::find_axis(view.table.axes, view.query.group->text()) : std::nullopt;
  auto& axes = view.label_axes;
  if (axis && !axes.empty() && std::ranges::find(axes, *axis) == axes.end()) axes.insert(axes.begin(), *axis);
  return view;
}

// The sentence about configurations that may be compared.
std::string sentence(const FrontierView& asked) {
  const FrontierView view = with_group(asked);
  const ParetoPoint* const first = best_of(view, [](const ParetoPoint&) { return true; });
  if (!first) return "";
  if (view.query.slo)
    return fmt::format("{} meets {} {}", label_of(view, first->configuration), view.query.slo->text(),
                       against(view, *first));
  const ParetoPoint& winner = view.answer.knee ? view.answer.points[*view.answer.knee] : *first;
  const bool in_all = std::ranges::none_of(view.answer.points, [&](const ParetoPoint& point) {
    return point.best_of_all && (precedes(view, point, winner) || precedes(view, winner, point));
  });
  if (view.answer.groups.size() > 1) {
    const std::string held = against(view, winner);
    if (!in_all || !held.ends_with(kNoOther))
      return fmt::format("{} reaches {} {}", label_of(view, winner.configuration), values(view, winner, 1), held);
  }
  return fmt::format("{} is {}: {}{}", label_of(view, winner.configuration),
                     view.query.objectives.size() == 1 ? "the best"
                     : view.answer.knee                ? "where the frontier bends"
                     : in_all                          ? "the best in all objectives"
                                                       : "the best in the first objective",
                     values(view, winner, 0), remarks(view, winner));
}

// The groups of each slice as slices of their own.
std::vector<explore::Slice> by_group(const FrontierView& view, const std::vector<explore::Slice>& slices) {
  const auto axis = explore::find_axis(view.table.axes, view.query.group->text());
  const std::string key = axis ? explore::short_names(view.table.axes)[*axis] : view.query.group->text();
  std::vector<explore::Slice> all;
  for (const explore::Slice& slice : slices)
    for (explore::GroupRows& group : rows_by_group(slice.table, *view.query.group)) {
      std::string name = slice.name;
      if (std::ranges::find(slice.keys, key) == slice.keys.end())  // it tells slices apart already
        name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, group.name);
      all.push_back({std::move(name), {}, {}, std::move(group.table)});
    }
  return all;
}

}  // namespace

std::string winner(const FrontierView& view) {
  constexpr std::size_t kMost = 8;  // sentences
  const auto group = view.query.group ? explore::find_axis(view.table.axes, view.query.group->text()) : std::nullopt;
  if (view.answer.points.empty()) return "";
  if (view.query.objectives.size() == 1) return sentence(view);  // the best of all that was asked for
  const ResultsTable looked_at = view.query.where ? rows_where(view.table, *view.query.where) : view.table;
  std::vector<explore::Slice> slices = comparable_slices(looked_at, group, counted_in(view.query.objectives));
  if (view.query.groups_alone) slices = by_group(view, slices);
  if (slices.size() == 1) return sentence(view);
  std::string text;
  std::size_t said = 0, more = 0;
  for (const explore::Slice& slice : slices) {
    explore::ParetoQuery query = view.query;
    if (std::exchange(query.groups_alone, false)) query.group.reset();  // it is the only one there
    for (Objective& objective : query.objectives)
      objective.unit = unit_in(objective, view.table, currency_of(slice.table));
    const explore::ParetoAnswer answer = explore::pareto(slice.table, query);
    const std::string one = sentence({slice.table, query, answer, view.label_axes});
    if (one.empty()) continue;
    if (++said > kMost) ++more;
    else text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", slice.name, one);
  }
  return more > 0 ? text + fmt::format("\n{} more are not compared with these: look at one with --where", more) : text;
}

}  // namespace llmscape::report
