// SPDX-License-Identifier: Apache-2.0
#include "models/pool_budget.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::models {
namespace {

constexpr double kRounding = 1e-6;  // of an entry, by sums of weights

}  // namespace

PoolBudget::PoolBudget(const KvBudget& of_all_layers)
    : parts_{{1, of_all_layers}}, each_chunk_(of_all_layers.each_chunk),
      ring_(of_all_layers.ring ? of_all_layers.entries : 0) {}

PoolBudget::PoolBudget(const ModelSpec& model) {
  double bytes = 0;
  for (const LayerGroup& group : model.groups) {
    const SequenceState state = group.state(model.precision);
    if (state.bytes_per_token == 0 || !state.budget.limits()) continue;
    parts_.push_back({group.caches() * state.bytes_per_token, state.budget});
    bytes += parts_.back().weight;
    each_chunk_ = state.budget.each_chunk;
  }
  double ring = 0;
  for (Part& part : parts_) {
    part.weight /= bytes;
    if (part.budget.ring) ring += part.weight * static_cast<double>(part.budget.entries);
  }
  ring_ = static_cast<std::int64_t>(std::ceil(ring - kRounding));
}

std::int64_t PoolBudget::kept(std::int64_t tokens) const {
  if (parts_.empty()) return tokens;
  if (parts_.size() == 1) return parts_.front().budget.kept(tokens);
  double sum = 0;
  for (const Part& part : parts_) sum += part.weight * static_cast<double>(part.budget.kept(tokens));
  return std::min(tokens, static_cast<std::int64_t>(std::ceil(sum - kRounding)));
}

}  // namespace llmscape::models
