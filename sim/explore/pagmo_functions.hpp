// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/explore/evolution.hpp"

namespace llmscape::explore {

// What the module with pagmo does (base/module.hpp).
struct PagmoFunctions {
  decltype(explore::next_generation)* next_generation;
  // Of more than `count`.
  decltype(explore::best_of)* best_of;
  // Of points that dominate the reference in every objective, of two at least.
  double (*volume)(const std::vector<Losses>& points, const Losses& reference);
  std::vector<double> (*exclusive_volumes)(const std::vector<Losses>& points, const Losses& reference);
};
const PagmoFunctions& pagmo_functions();

}  // namespace llmscape::explore
