// SPDX-License-Identifier: Apache-2.0
#include "models/step_work.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::models {
namespace {

// The same step with the last tokens of its prompts among the decodes.
Batch with_last_tokens(Batch batch) {
  batch.decodes += batch.prompt_ends();
  return batch;
}

}  // namespace

Attended last_tokens(std::span<const PrefillChunk> chunks, std::int64_t reach) {
  Attended all;
  for (const PrefillChunk& chunk : chunks) {
    if (!chunk.ends_prompt) continue;
    const std::int64_t context = chunk.tokens + chunk.cached;
    const std::int64_t entries = reach > 0 ? std::min(reach, context) : context;
    all.sum += entries;
    all.max = std::max(all.max, entries);
  }
  return all;
}

namespace {

// Adds the attention of one group, if it has any, to the list.
void add_group(OperatorList& list, const ModelSpec& model, const LayerGroup& group, const ParallelPlan& plan,
               const Batch& batch, const std::vector<std::int64_t>& laws) {
  const SequenceState state = group.state(model.precision, plan.tensor);
  if (state.bytes_per_token == 0) return;
  const bool last_only = group.change.passed_by_last_only;
  Batch seen = last_only ? with_last_tokens(batch) : batch;
  const Attended last = last_only ? last_tokens(batch.chunks, state.reach) : Attended();
  if (last_only) seen.chunks = {};
  Attended decodes;
  if (batch.decodes > 0) {
    const auto law = std::lower_bound(laws.begin(), laws.end(), state.reach) - laws.begin();
    decodes = batch.attended[static_cast<std::size_t>(law)];
  }
  add_attention(list, group.mixer, share_of(model, group, plan, 0, 0), seen,
                {decodes.sum + last.sum, std::max(decodes.max, last.max)});
}

std::vector<std::int64_t> laws_of(const ModelSpec& model, const Batch& batch) {
  std::vector<std::int64_t> laws = kv_laws(model);
  if (batch.decodes > 0 && batch.attended.size() != laws.size())
    throw std::invalid_argument("a batch with decodes needs one Attended per KV law of the model");
  return laws;
}

}  // namespace

std::vector<Operator> attention_work(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch) {
  const std::vector<std::int64_t> laws = laws_of(model, batch);
  OperatorList list;
  for (const LayerGroup& group : model.groups) add_group(list, model, group, plan, batch, laws);
  return list.take_stage(plan);
}

std::vector<Operator> group_attention(const ModelSpec& model, const LayerGroup& group, const ParallelPlan& plan,
                                      const Batch& batch) {
  OperatorList list;
  add_group(list, model, group, plan, batch, laws_of(model, batch));
  return list.take_stage(plan);
}

std::vector<Operator> state_work(const ModelSpec& model, const ParallelPlan& plan, const StateCounts& counts) {
  OperatorList list;
  for (const LayerGroup& group : model.groups)
    add_state_work(list, group.mixer, share_of(model, group, plan, counts.chunk_tokens, counts.decode_tokens),
                   counts.chunks, counts.decodes);
  return list.take_stage(plan);
}

}  // namespace llmscape::models
