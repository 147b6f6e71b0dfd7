// SPDX-License-Identifier: Apache-2.0
#include "hardware/layer_share.hpp"

#include <algorithm>
#include <vector>

namespace llmscape::hardware {
namespace {

// Adds `share` of a step to a cost; a family's bound stays that of the part that takes more of its time.
void add(StepCost& sum, double share, const StepCost& step) {
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    const Seconds time = share * step.by_family[f];
    if (time > sum.by_family[f]) sum.bound[f] = step.bound[f];
    sum.by_family[f] += time;
    sum.energy_by_family[f] += share * step.energy_by_family[f];
  }
  for (std::size_t i = 0; i < kEnergyComponents; ++i) sum.energy[i] += share * step.energy[i];
  for (std::size_t i = 0; i < kResources; ++i) sum.busy[i] += share * step.busy[i];
  sum.device += share * step.device;
  sum.extrapolated += share * step.extrapolated;
  sum.flops += share * step.flops;
  sum.bytes += share * step.bytes;
  sum.expert_bytes += share * step.expert_bytes;
}

}  // namespace

StepCost step_by_layers(StepModel& model, const models::Batch& batch) {
  const double share = batch.prefill_layers;
  if (share >= 1 || batch.chunks.empty()) return model.step(batch);
  std::vector<models::PrefillChunk> silent(batch.chunks.begin(), batch.chunks.end());
  for (models::PrefillChunk& chunk : silent) chunk.ends_prompt = false;
  models::Batch beside = batch, alone = batch;
  beside.chunks = silent;
  beside.prefill_layers = 1;
  alone.chunks = {};
  alone.prefill_layers = 1;
  alone.adapters = std::min(batch.adapters, batch.decodes);

  const StepCost with = model.step(beside);
  StepCost cost;
  add(cost, share, with);
  add(cost, 1 - share, model.step(alone));
  if (std::ranges::any_of(batch.chunks, &models::PrefillChunk::ends_prompt)) {
    beside.chunks = batch.chunks;
    add(cost, 1, model.step(beside));
    add(cost, -1, with);
  }
  cost.sync = with.sync;
  cost.host = with.host;
  cost.launch = with.launch;
  return cost;
}

}  // namespace llmscape::hardware
