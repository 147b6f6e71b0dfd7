// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/explore/dominance.hpp"

namespace llmscape::explore {

// What varies in a space: one gene for each axis, with so many values.
struct Gene {
  enum class Kind { category, ordered, continuous };
  Kind kind = Kind::category;
  std::size_t values = 1;
};
// The number of a value for each gene.
using Genome = std::vector<std::size_t>;

struct Individual {
  Genome genome;
  Losses losses;  // finite, of about the same size in every objective
};

enum class EvolutionaryAlgorithm { nsga2, moead };

// One generation of pagmo 2 (Biscani and Izzo, JOSS 5(53), 2020): NSGA-II (Deb et al., IEEE Trans. Evol. Comput. 6,
// 2002) or MOEA/D with differential evolution (Li and Zhang, IEEE Trans. Evol. Comput. 13, 2009). NSGA-II asks
// `evaluate` once for all children, of which several may be the same or known; MOEA/D asks for one at a time.
// Categories and ordered values are whole numbers to NSGA-II. A population of NSGA-II is a multiple of four, at least
// eight. The same arguments give the same population.
std::vector<Individual> next_generation(const std::vector<Gene>& genes, const std::vector<Individual>& population,
                                        EvolutionaryAlgorithm algorithm, std::uint32_t seed,
                                        const std::function<std::vector<Losses>(const std::vector<Genome>&)>& evaluate);

// The `count` best by rank of non-domination, then by crowding distance, as NSGA-II selects.
std::vector<std::size_t> best_of(const std::vector<Losses>& losses, std::size_t count);

}  // namespace llmscape::explore
