// SPDX-License-Identifier: Apache-2.0
// The module that brings pagmo: no other file includes it.
#include "sim/explore/pagmo_functions.hpp"

#include <pagmo/algorithms/moead.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/batch_evaluators/member_bfe.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <pagmo/utils/hv_algos/hv_hvwfg.hpp>
#include <pagmo/utils/hypervolume.hpp>
#include <pagmo/utils/multi_objective.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmscape::explore {
namespace {

using Evaluate = std::function<std::vector<Losses>(const std::vector<Genome>&)>;
using Numbers = pagmo::vector_double;

constexpr unsigned kNeighbours = 10;  // of a subproblem of MOEA/D

// pagmo's algorithms take two objectives or more. One is handed to them twice: ranks of non-domination are then the
// order by loss, and NSGA-II is a genetic algorithm that keeps the best. (pagmo::sga asks for one child at a time.)
Losses at_least_two(Losses losses) {
  if (losses.size() == 1) losses.push_back(losses.front());
  return losses;
}

// The space as pagmo sees it: continuous genes first, whole numbers behind them.
struct Problem {
  const std::vector<Gene>* genes = nullptr;
  const Evaluate* evaluate = nullptr;
  std::vector<std::size_t> order;  // of the genes with more than one value
  std::size_t objectives = 2;
  bool whole_numbers = true;  // MOEA/D moves by differences and takes all for continuous

  [[nodiscard]] Numbers encode(const Genome& genome) const {
    Numbers numbers;
    for (const std::size_t gene : order) numbers.push_back(static_cast<double>(genome[gene]));
    return numbers;
  }
  [[nodiscard]] Genome decode(const double* numbers) const {
    Genome genome(genes->size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto last = static_cast<double>((*genes)[order[i]].values - 1);
      genome[order[i]] = static_cast<std::size_t>(std::clamp(std::round(numbers[i]), 0., last));
    }
    return genome;
  }

  // What pagmo asks of a problem.
  [[nodiscard]] Numbers fitness(const Numbers& numbers) const {
    return at_least_two((*evaluate)({decode(numbers.data())}).front());
  }
  [[nodiscard]] Numbers batch_fitness(const Numbers& all) const {
    std::vector<Genome> genomes;
    for (std::size_t at = 0; at < all.size(); at += order.size()) genomes.push_back(decode(all.data() + at));
    Numbers fitness;
    for (const Losses& losses : (*evaluate)(genomes)) {
      const Losses seen = at_least_two(losses);
      fitness.insert(fitness.end(), seen.begin(), seen.end());
    }
    return fitness;
  }
  [[nodiscard]] std::pair<Numbers, Numbers> get_bounds() const {
    Numbers last;
    for (const std::size_t gene : order) last.push_back(static_cast<double>((*genes)[gene].values - 1));
    return {Numbers(last.size(), 0), last};
  }
  [[nodiscard]] Numbers::size_type get_nobj() const { return objectives; }
  [[nodiscard]] Numbers::size_type get_nix() const {
    if (!whole_numbers) return 0;
    return static_cast<Numbers::size_type>(std::ranges::count_if(
        order, [this](std::size_t gene) { return (*genes)[gene].kind != Gene::Kind::continuous; }));
  }
};

std::vector<std::size_t> continuous_first(const std::vector<Gene>& genes) {
  std::vector<std::size_t> order;
  for (const bool continuous : {true, false})
    for (std::size_t i = 0; i < genes.size(); ++i)
      if (genes[i].values > 1 && (genes[i].kind == Gene::Kind::continuous) == continuous) order.push_back(i);
  return order;
}

pagmo::population evolved(const pagmo::population& population, EvolutionaryAlgorithm algorithm, unsigned seed) {
  if (algorithm == EvolutionaryAlgorithm::moead) {
    const unsigned neighbours = std::min<unsigned>(kNeighbours, static_cast<unsigned>(population.size()) - 1);
    pagmo::moead moead(1, "low discrepancy", "tchebycheff", neighbours);
    moead.set_seed(seed);
    return moead.evolve(population);
  }
  const auto genes = static_cast<double>(population.get_problem().get_nx());
  pagmo::nsga2 nsga2(1, 0.9, 10, 1 / genes, 20, seed);
  nsga2.set_bfe(pagmo::bfe(pagmo::member_bfe()));
  return nsga2.evolve(population);
}

std::vector<Individual> generation_after(const std::vector<Gene>& genes, const std::vector<Individual>& population,
                                         EvolutionaryAlgorithm algorithm, std::uint32_t seed,
                                         const Evaluate& evaluate) {
  const std::size_t objectives = population.front().losses.size();
  const Problem problem{&genes, &evaluate, continuous_first(genes), std::max<std::size_t>(2, objectives),
                        algorithm == EvolutionaryAlgorithm::nsga2};
  pagmo::population before(problem, 0, seed);
  for (const Individual& individual : population)
    before.push_back(problem.encode(individual.genome), at_least_two(individual.losses));
  const pagmo::population after = evolved(before, algorithm, seed);
  std::vector<Individual> next;
  for (std::size_t i = 0; i < after.size(); ++i) {
    next.push_back({problem.decode(after.get_x()[i].data()), after.get_f()[i]});
    next.back().losses.resize(objectives);
  }
  return next;
}

std::vector<std::size_t> best(const std::vector<Losses>& losses, std::size_t count) {
  std::vector<Losses> seen;
  for (const Losses& one : losses) seen.push_back(at_least_two(one));
  const auto chosen = pagmo::select_best_N_mo(seen, count);
  return {chosen.begin(), chosen.end()};
}

double volume(const std::vector<Losses>& points, const Losses& reference) {
  return pagmo::hypervolume(points, false).compute(reference);
}

// Asked for by name: what pagmo 2.18 takes by itself in three objectives is wrong where points share a coordinate.
std::vector<double> exclusive_volumes(const std::vector<Losses>& points, const Losses& reference) {
  pagmo::hvwfg algorithm;
  return pagmo::hypervolume(points, false).contributions(reference, algorithm);
}

}  // namespace
}  // namespace llmscape::explore

extern "C" const llmscape::explore::PagmoFunctions* llmscape_pagmo() {
  using namespace llmscape::explore;
  static constexpr PagmoFunctions functions{&generation_after, &best, &volume, &exclusive_volumes};
  return &functions;
}
