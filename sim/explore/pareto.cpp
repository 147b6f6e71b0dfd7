// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/pareto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/explore/dominance.hpp"
#include "sim/explore/hypervolume.hpp"

namespace llmscape::explore {
namespace {

// What a group is called: an axis as it is written, else the value of the expression.
std::string group_of(const Expression& group, const ResultsTable& table, const Configuration& configuration) {
  if (const auto axis = find_axis(table.axes, group.text())) return configuration.values[*axis];
  const auto value = group.evaluate(lookup_in(table, configuration));
  if (!value) return "(none)";
  if (const double* number = std::get_if<double>(&*value)) return fmt::format("{}", *number);
  if (const bool* truth = std::get_if<bool>(&*value)) return *truth ? "true" : "false";
  return std::get<std::string>(*value);
}

// One for each objective, or the first objective that the configuration has no value of.
std::variant<std::vector<Estimate>, std::size_t> values_of(const std::vector<Objective>& objectives,
                                                           const ResultsTable& table,
                                                           const Configuration& configuration) {
  std::vector<Estimate> values;
  for (const Objective& objective : objectives) {
    const auto value = estimate_of(objective, table, configuration);
    if (!value) return values.size();
    values.push_back(*value);
  }
  return values;
}

Losses losses_of(const std::vector<Objective>& objectives, const std::vector<Estimate>& values) {
  Losses losses;
  for (std::size_t k = 0; k < objectives.size(); ++k) losses.push_back(objectives[k].loss(values[k].value));
  return losses;
}

class Study {
 public:
  Study(const ResultsTable& table, const ParetoQuery& query) : table_(table), query_(query) {
    answer_.configurations = configurations(table);
    answer_.left_out.lacking.resize(query.objectives.size());
  }

  ParetoAnswer answer() && {
    for (std::size_t i = 0; i < answer_.configurations.size(); ++i) admit(i);
    for (const ParetoPoint& point : answer_.points) losses_.push_back(losses_of(query_.objectives, point.values));
    if (!query_.groups_alone) {
      std::vector<std::size_t> all(answer_.points.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      std::tie(answer_.best, answer_.reference) = ends_of(all);
      find_best_of_all();
    }
    marks_neighbours_ = query_.epsilon > 0 || std::ranges::any_of(answer_.points, [](const ParetoPoint& point) {
                          return std::ranges::any_of(point.values, is_uncertain);
                        });
    std::vector<std::vector<std::size_t>> members(answer_.groups.size());
    for (std::size_t point = 0; point < answer_.points.size(); ++point)
      members[answer_.points[point].group].push_back(point);
    for (std::size_t group = 0; group < members.size(); ++group) find_frontier(answer_.groups[group], members[group]);
    return std::move(answer_);
  }

 private:
  void admit(std::size_t index) {
    const Configuration& configuration = answer_.configurations[index];
    const Expression::Lookup lookup = lookup_in(table_, configuration);
    auto& left_out = answer_.left_out;
    if (query_.where && !query_.where->holds(lookup)) {
      ++left_out.where;
      return;
    }
    if (!query_.include_invalid && configuration.verdict != "valid") {
      ++left_out.invalid;
      return;
    }
    auto values = values_of(query_.objectives, table_, configuration);
    if (const std::size_t* lacking = std::get_if<std::size_t>(&values)) {
      ++left_out.lacking[*lacking];
      return;
    }
    if (query_.slo && !query_.slo->holds(lookup)) {
      ++left_out.slo;
      return;
    }
    ParetoPoint& point = answer_.points.emplace_back();
    point.configuration = index;
    point.values = std::get<std::vector<Estimate>>(std::move(values));
    point.group = group(query_.group ? group_of(*query_.group, table_, configuration) : "");
    ++answer_.groups[point.group].qualified;
  }

  std::size_t group(const std::string& name) {
    const auto [known, is_new] = group_places_.emplace(name, answer_.groups.size());
    if (is_new) answer_.groups.emplace_back().name = name;
    return known->second;
  }

  // The best of some points, and the worst or the reference that was asked for, by objective.
  [[nodiscard]] std::pair<std::vector<double>, std::vector<double>> ends_of(
      const std::vector<std::size_t>& points) const {
    std::vector<double> best, reference;
    for (std::size_t k = 0; k < query_.objectives.size() && !points.empty(); ++k) {
      const auto by_loss = [&](std::size_t point) { return losses_[point][k]; };
      const Objective& objective = query_.objectives[k];
      best.push_back(objective.loss(losses_[std::ranges::min(points, {}, by_loss)][k]));
      reference.push_back(objective.loss(losses_[std::ranges::max(points, {}, by_loss)][k]));
      if (k < query_.reference.size() && query_.reference[k]) reference.back() = *query_.reference[k];
    }
    return {best, reference};
  }

  void find_best_of_all() {
    const std::vector<std::size_t> frontier = non_dominated(losses_);
    for (const std::size_t point : frontier) answer_.points[point].best_of_all = true;
    answer_.knee = knee_of(frontier);
  }

  [[nodiscard]] std::optional<std::size_t> knee_of(const std::vector<std::size_t>& points) const {
    if (points.size() < 2) return std::nullopt;  // nothing that could bend
    std::vector<Losses> frontier;
    for (const std::size_t point : points) frontier.push_back(losses_[point]);
    const auto bend = knee(frontier);
    return bend ? std::optional(points[*bend]) : std::nullopt;
  }

  void find_frontier(Frontier& group, const std::vector<std::size_t>& members) {
    std::vector<Losses> member_losses;
    for (const std::size_t point : members) member_losses.push_back(losses_[point]);
    for (const std::size_t member : non_dominated(member_losses)) {
      group.points.push_back(members[member]);
      answer_.points[members[member]].on_frontier = true;
    }
    std::ranges::stable_sort(group.points, [this](std::size_t a, std::size_t b) { return losses_[a] < losses_[b]; });
    if (marks_neighbours_) mark_neighbours(group, members);
    measure(group, members);
  }

  void mark_neighbours(const Frontier& group, const std::vector<std::size_t>& members) {
    for (const std::size_t member : members) {
      ParetoPoint& point = answer_.points[member];
      for (const std::size_t other : group.points) {
        if (other == member) continue;
        if (overlap(point.values, answer_.points[other].values)) point.alike.push_back(other);
        if (query_.epsilon > 0 && !point.on_frontier && !point.tied)
          point.tied = within(losses_[member], losses_[other], query_.epsilon);
      }
    }
  }

  static bool is_uncertain(const Estimate& value) { return value.low < value.high; }
  // In every objective, where at least one of them has an interval.
  static bool overlap(const std::vector<Estimate>& a, const std::vector<Estimate>& b) {
    bool uncertain = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k].high < b[k].low || b[k].high < a[k].low) return false;
      uncertain = uncertain || is_uncertain(a[k]) || is_uncertain(b[k]);
    }
    return uncertain;
  }

  void measure(Frontier& group, const std::vector<std::size_t>& members) {
    std::vector<Losses> frontier;
    for (const std::size_t point : group.points) frontier.push_back(losses_[point]);
    group.knee = knee_of(group.points);
    const auto [bests, worsts] = query_.groups_alone ? ends_of(members) : std::pair(answer_.best, answer_.reference);
    Losses reference;
    double box = 1;
    for (std::size_t k = 0; k < query_.objectives.size(); ++k) {
      reference.push_back(query_.objectives[k].loss(worsts[k]));
      box *= reference[k] - query_.objectives[k].loss(bests[k]);
    }
    group.hypervolume = hypervolume(frontier, reference);
    group.share = box > 0 ? group.hypervolume / box : 0;
  }

  const ResultsTable& table_;
  const ParetoQuery& query_;
  ParetoAnswer answer_;
  std::vector<Losses> losses_;  // of answer_.points
  bool marks_neighbours_ = false;
  std::map<std::string, std::size_t> group_places_;
};

}  // namespace

ParetoAnswer pareto(const ResultsTable& table, const ParetoQuery& query) { return Study(table, query).answer(); }

std::vector<GroupRows> rows_by_group(const ResultsTable& table, const Expression& group) {
  std::vector<GroupRows> groups;
  for (const Configuration& one : configurations(table)) {
    const std::string name = group_of(group, table, one);
    auto known = std::ranges::find(groups, name, &GroupRows::name);
    if (known == groups.end()) known = groups.insert(groups.end(), {name, {table.folder, table.axes, {}}});
    for (const std::size_t row : one.rows) known->table.rows.push_back(table.rows[row]);
  }
  return groups;
}

std::optional<std::vector<Dominator>> dominators(const ParetoAnswer& answer, const ParetoQuery& query,
                                                 const ResultsTable& table, std::size_t configuration) {
  const auto values = values_of(query.objectives, table, answer.configurations[configuration]);
  const auto* own = std::get_if<std::vector<Estimate>>(&values);
  if (!own) return std::nullopt;
  const Losses beaten = losses_of(query.objectives, *own);
  std::optional<std::string> within;  // this group
  if (query.groups_alone) within = group_of(*query.group, table, answer.configurations[configuration]);
  std::vector<Dominator> all;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const std::vector<Estimate>& theirs = answer.points[i].values;
    if (within && answer.groups[answer.points[i].group].name != *within) continue;
    if (!dominates(losses_of(query.objectives, theirs), beaten)) continue;
    Dominator& dominator = all.emplace_back();
    dominator.point = i;
    const auto ratio = [](double a, double b) { return b == 0 ? std::nullopt : std::optional(a / b); };
    for (std::size_t k = 0; k < theirs.size(); ++k) dominator.ratios.push_back(ratio(theirs[k].value, (*own)[k].value));
  }
  std::ranges::stable_sort(all, {}, [&](const Dominator& dominator) {
    return query.objectives[0].loss(answer.points[dominator.point].values[0].value);
  });
  return all;
}

}  // namespace llmscape::explore
