// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/evolution.hpp"

#include <numeric>

#include "base/module.hpp"
#include "sim/explore/pagmo_functions.hpp"

namespace llmscape::explore {

const PagmoFunctions& pagmo_functions() {
  static const PagmoFunctions& functions = *module_function<const PagmoFunctions*()>("pagmo", "llmscape_pagmo")();
  return functions;
}

std::vector<Individual> next_generation(
    const std::vector<Gene>& genes, const std::vector<Individual>& population, EvolutionaryAlgorithm algorithm,
    std::uint32_t seed, const std::function<std::vector<Losses>(const std::vector<Genome>&)>& evaluate) {
  return pagmo_functions().next_generation(genes, population, algorithm, seed, evaluate);
}

std::vector<std::size_t> best_of(const std::vector<Losses>& losses, std::size_t count) {
  if (losses.size() > count) return pagmo_functions().best_of(losses, count);
  std::vector<std::size_t> all(losses.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace llmscape::explore
