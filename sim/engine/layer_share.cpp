// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/layer_share.hpp"

#include <algorithm>
#include <vector>

namespace llmscape::engine {

EngineCost step_by_layers(EngineModel& model, const models::Batch& batch) {
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

  const EngineCost with = model.step(beside);
  EngineCost cost;
  cost.add(with, share);
  cost.add(model.step(alone), 1 - share);
  if (std::ranges::any_of(batch.chunks, &models::PrefillChunk::ends_prompt)) {
    beside.chunks = batch.chunks;
    cost.add(model.step(beside), 1);
    cost.add(with, -1);
  }
  cost.sync = with.sync;
  cost.host = with.host;
  cost.launch = with.launch;
  cost.settle_host();
  return cost;
}

}  // namespace llmscape::engine
