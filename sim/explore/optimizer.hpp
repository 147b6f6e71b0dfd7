// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/explore/evolution.hpp"

namespace llmscape::explore {

// What a configuration of a space is worth.
struct Judged {
  Losses losses;         // empty: it has none (its scenario was refused, its run failed)
  double violation = 0;  // of the constraints, above 0; 0 meets them all
  [[nodiscard]] bool feasible() const { return violation == 0 && !losses.empty(); }
};

struct Candidate {
  Genome genome;
  Judged judged;
};

struct OptimizerQuery {
  std::vector<Gene> genes;
  std::size_t objectives = 2;
  EvolutionaryAlgorithm algorithm = EvolutionaryAlgorithm::nsga2;
  std::size_t evaluations = 200;  // configurations that may be evaluated
  std::size_t population = 16;    // rounded up to a multiple of four
  std::size_t initial = 40;       // of the evaluations, spread over the space before the first generation
  std::uint64_t seed = 1;
  std::function<bool(const Genome&)> excluded;  // no configuration of the space
  // Evaluates several at once, each asked for once only.
  std::function<std::vector<Judged>(const std::vector<Genome>&)> evaluate;
};

// Looks for the frontier of a space (of one objective: for the best) with few evaluations; returns all that were
// evaluated, in their order. The start is spread by a Sobol sequence. Then each round is a generation of pagmo's
// algorithm, in which known configurations cost nothing, and a look at neighbours (one gene moved) of the frontier so
// far; a round that finds nothing new draws at random. Of one objective over lists every second round is neighbours
// alone, and those that would be better but for a constraint have neighbours, too. Configurations with equal losses
// count as one, each of which may be the one. NSGA-II takes its parents from all that is known. Constraints
// are met first: what violates them is worse than all that does not, and the more the worse.
std::vector<Candidate> optimize(const OptimizerQuery& query);

}  // namespace llmscape::explore
