// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/explore/objective.hpp"
#include "sim/explore/optimizer.hpp"
#include "sim/explore/slo.hpp"
#include "sim/explore/sweep.hpp"

namespace llmscape::explore {

// What an axis is tried at: its list, or of an interval all whole numbers where it has fewer than 4096, else 4096
// values spread over it, of which those count once that are written alike (small whole numbers, in the log).
std::vector<Choice> values_tried(const Axis& axis);
// The axes of a plan as genes: lists of numbers are ordered, other lists and variants are categories, intervals are
// continuous.
std::vector<Gene> genes_of(const Plan& plan);
// The configurations of the plan; nothing beyond 2^53.
std::optional<std::uint64_t> configurations_of(const Plan& plan);

struct PlanOptimization {
  std::vector<Objective> objectives;  // one: the best is looked for; more: the frontier
  std::vector<Limit> slo;             // constraints
  bool include_invalid = false;       // verdicts other than "valid" do not violate a constraint
  EvolutionaryAlgorithm algorithm = EvolutionaryAlgorithm::nsga2;
  std::size_t evaluations = 200;
  std::uint64_t seed = 1;
  bool halving = false;  // hopeless configurations are dropped after a quarter or half of their requests
};

struct OptimizationCounts {
  std::uint64_t configurations = 0;  // evaluated
  std::uint64_t dropped = 0;         // of them, before their full length
  std::uint64_t failed = 0, refused = 0;
  double full_lengths = 0;  // requests simulated, in runs of full length; known ones count too
  bool interrupted = false;
  // Metrics that the first configurations cannot be compared by (comparable.hpp): then no more are evaluated.
  std::vector<const metrics::Column*> incomparable{};
  std::vector<std::filesystem::path> damaged;  // as SweepCounts has them
};

// Looks for the frontier of the plan's space: runs configurations as a sweep would, keeps their points in the folder of
// one, and writes results.csv of those that ran at full length. Points that the folder holds are not run again, so that
// the same call goes on where one was interrupted. The same files for any `jobs`; progress counts configurations.
OptimizationCounts optimize_plan(const Plan& plan, const PlanOptimization& query, PointNames& names, const Store& store,
                                 const SweepOptions& options);

}  // namespace llmscape::explore
