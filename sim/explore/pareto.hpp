// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/expression.hpp"
#include "sim/explore/objective.hpp"
#include "sim/explore/results.hpp"

namespace llmscape::explore {

// What is asked of the configurations of a sweep. All names are known (check_names).
struct ParetoQuery {
  std::vector<Objective> objectives;  // at least one: then the frontier is the best, and what equals it
  std::optional<Expression> where;    // which are looked at
  std::optional<Expression> slo;      // which of them qualify
  std::optional<Expression> group;    // one frontier for each value of it
  // No group is held against another: an objective is a sum over windows (comparable.hpp) that are alike within each
  // group alone.
  bool groups_alone = false;
  double epsilon = 0;            // relative: what is so near to a frontier is a tie
  bool include_invalid = false;  // verdicts other than "valid" count too
  std::vector<std::optional<double>>
      reference;  // of the hypervolume, by objective; the worst of all where none is given
};

struct ParetoPoint {
  std::size_t configuration = 0;
  std::size_t group = 0;         // of ParetoAnswer::groups
  std::vector<Estimate> values;  // one for each objective
  bool on_frontier = false;      // of its group
  bool best_of_all = false;      // on the frontier of all groups together; false where groups are alone
  bool tied = false;             // not on the frontier, but within epsilon of one of its points
  std::vector<std::size_t>
      alike;  // points of its frontier that intervals do not tell it from: they overlap in every objective
};

struct Frontier {
  std::string name;                 // of the group; empty: there is but one
  std::vector<std::size_t> points;  // of ParetoAnswer::points, the best in the first objective in front
  std::size_t qualified = 0;        // points of the group in all
  std::optional<std::size_t> knee;  // of ParetoAnswer::points
  double hypervolume = 0;           // in the product of the objectives' units
  double share = 0;  // of the box between the reference and the best values of all groups, or of this where it is alone
};

struct ParetoAnswer {
  std::vector<Configuration> configurations;
  std::vector<ParetoPoint> points;      // those that qualify, in the order of the plan
  std::vector<Frontier> groups;         // in the order of their first point
  std::optional<std::size_t> knee;      // of the frontier of all groups together
  std::vector<double> reference, best;  // by objective, of all groups; empty where they are alone
  struct {
    std::size_t where = 0;             // not asked for
    std::size_t invalid = 0;           // by their verdict
    std::vector<std::size_t> lacking;  // by the first objective that they have no value of
    std::size_t slo = 0;               // do not meet it
  } left_out;
};
ParetoAnswer pareto(const ResultsTable& table, const ParetoQuery& query);

// The rows of each group, in the order of their first configuration.
struct GroupRows {
  std::string name;
  ResultsTable table;
};
std::vector<GroupRows> rows_by_group(const ResultsTable& table, const Expression& group);

// Who is better than a point everywhere.
struct Dominator {
  std::size_t point = 0;                      // of ParetoAnswer::points
  std::vector<std::optional<double>> ratios;  // its value over that of the other, by objective; nothing over 0
};
// The points that dominate a configuration (one that does not qualify too), the best in the first objective in
// front; of its own group, where groups are alone. Nothing where it lacks an objective.
std::optional<std::vector<Dominator>> dominators(const ParetoAnswer& answer, const ParetoQuery& query,
                                                 const ResultsTable& table, std::size_t configuration);

}  // namespace llmscape::explore
