// SPDX-License-Identifier: Apache-2.0
#include "models/step_work.hpp"

#include "models/latent_attention.hpp"
#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::models {
namespace {

void add_prefill(const Attention& a, const ParallelPlan& plan, const Precision& precision, const Batch& batch,
                 int layers, OperatorList& list) {
  PrefillAttention work;
  work.chunks.assign(batch.chunks.begin(), batch.chunks.end());
  work.heads = a.heads / plan.tensor;
  work.kv_heads = kv_heads_per_rank(a, plan.tensor);
  work.head_dim = a.head_dim;
  work.window = a.prompt_reach();
  work.kv = precision.kv;
  work.sparse_kernel = a.sparse_kernel;
  work.estimate_queries = a.estimate_queries;
  list.add(work, layers);
}

// The chunks of latent attention, each in the form that needs fewer FLOPs.
void add_latent_prefill(const Attention& a, const ParallelPlan& plan, const Precision& precision, const Batch& batch,
                        int layers, OperatorList& list) {
  PrefillAttention expanded, absorbed;
  for (PrefillAttention* work : {&expanded, &absorbed}) {
    work->heads = a.heads / plan.tensor;
    work->kv = precision.kv;
    work->mla = true;
  }
  expanded.kv_heads = expanded.heads;
  expanded.head_dim = a.nope_dim + a.rope_dim;
  expanded.v_dim = a.v_dim;
  absorbed.kv_heads = 1;
  absorbed.head_dim = a.kv_rank + a.rope_dim;
  absorbed.v_dim = a.kv_rank;
  std::int64_t through_expansion = 0;
  for (const PrefillChunk& chunk : batch.chunks) {
    const bool absorb = absorbed_is_cheaper(a, chunk.tokens, chunk.cached);
    (absorb ? absorbed : expanded).chunks.push_back(chunk);
    through_expansion += chunk.tokens + (absorb ? 0 : chunk.cached);
  }
  const Linear expansion = latent_expansion(a, plan.tensor);
  list.add_gemm(through_expansion, expansion.k, expansion.n, precision.weights, inputs_of(precision, precision.weights),
                layers);
  if (!expanded.chunks.empty()) list.add(expanded, layers);
  if (!absorbed.chunks.empty()) list.add(absorbed, layers);
}

void add_decode(const Attention& a, const ParallelPlan& plan, const Precision& precision, const Batch& batch,
                const Attended& attended, int layers, OperatorList& list) {
  DecodeAttention work;
  work.sequences = batch.decodes;
  work.tokens_per_sequence = batch.tokens_per_decode;
  work.attended = attended;
  work.heads = a.heads / plan.tensor;
  work.window = a.reach();
  work.kv = precision.kv;
  if (a.kind == Attention::Kind::mla) {
    work.mla = true;
    work.kv_heads = 1;
    work.head_dim = a.kv_rank + a.rope_dim;
    work.kv_rank = a.kv_rank;
    work.rope_dim = a.rope_dim;
  } else {
    work.kv_heads = kv_heads_per_rank(a, plan.tensor);
    work.head_dim = a.head_dim;
  }
  list.add(work, layers);
}

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

std::vector<Operator> attention_work(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch) {
  const std::vector<std::int64_t> laws = kv_laws(model);
  if (batch.decodes > 0 && batch.attended.size() != laws.size())
    throw std::invalid_argument("a batch with decodes needs one Attended per KV law of the model");
  OperatorList list;
  for (const LayerGroup& group : model.groups) {
    const Attention& attention = group.attention;
    const int layers = layers_per_stage(group, plan);
    const Batch seen = group.prompt_kv_only ? with_last_tokens(batch) : batch;
    const Attended last = group.prompt_kv_only ? last_tokens(batch.chunks, attention.reach()) : Attended();
    if (!batch.chunks.empty() && !group.prompt_kv_only) {
      const auto add = attention.kind == Attention::Kind::mla ? add_latent_prefill : add_prefill;
      add(attention, plan, model.precision, batch, layers, list);
    }
    if (seen.decodes > 0) {
      const auto law = std::lower_bound(laws.begin(), laws.end(), attention.reach()) - laws.begin();
      const Attended decodes = batch.decodes > 0 ? batch.attended[static_cast<std::size_t>(law)] : Attended();
      add_decode(attention, plan, model.precision, seen, {decodes.sum + last.sum, std::max(decodes.max, last.max)},
                 layers, list);
    }
  }
  return list.take();
}

}  // namespace llmscape::models
