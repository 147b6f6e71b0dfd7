// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/latent_attention.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/attention_pairs.hpp"
#include "models/operator_list.hpp"

namespace llmscape::models {
namespace {

std::string chooser(const SparseIndex& index) {
  return index.heads > 0 ? fmt::format("{} heads of {}", index.heads, index.head_dim) : "an earlier layer";
}

}  // namespace

std::vector<HeadCount> LatentAttention::head_counts() const { return {{heads, "attention heads"}}; }

std::string LatentAttention::description() const {
  std::string text = fmt::format("{} heads over a latent of {} + {}", heads, kv_rank, rope_dim);
  if (index) text += fmt::format(", {} entries chosen by {}", index->entries, chooser(*index));
  return text;
}

std::vector<Linear> LatentAttention::projections(std::int64_t hidden, int tensor) const {
  const std::int64_t mine = heads / tensor;
  const std::int64_t queries = mine * (nope_dim + rope_dim);
  const Linear latent{hidden, kv_rank + rope_dim, qkv_bias};
  const Linear output{mine * v_dim, hidden, output_bias};
  std::vector<Linear> all;
  if (q_rank == 0) all = {{hidden, queries}, latent};
  else all = {{hidden, q_rank, qkv_bias}, {q_rank, queries}, latent};
  if (output_gate) all.push_back({hidden, mine * v_dim});
  if (index) {
    const auto chooses = index->projections(hidden, q_rank);
    all.insert(all.end(), chooses.begin(), chooses.end());
  }
  all.push_back(output);
  return all;
}

Linear LatentAttention::expansion(int tensor) const {
  return {kv_rank, std::int64_t{heads / tensor} * (nope_dim + v_dim)};
}

std::int64_t LatentAttention::inner_parameters(int tensor) const {
  return q_rank + kv_rank + expansion(tensor).parameters() + (index ? index->inner_parameters() : 0);
}

SequenceState LatentAttention::state(const Precision& precision, int /*tensor*/) const {
  SequenceState state{.bytes_per_token = precision.kv.stored_bytes(kv_rank + rope_dim, 0)};
  if (index) {
    state.bytes_per_token += index->key_bytes();
    state.reach = index->entries;
    state.keeps_all = true;
    state.index_bytes = index->key_bytes();
  }
  return state;
}

bool LatentAttention::absorbed_is_cheaper(std::int64_t tokens, std::int64_t cached) const {
  // Both forms pay the expansion for n tokens; the expanded form pays it for the c cached ones too.
  const double per_key = 2.0 * static_cast<double>(expansion(1).parameters());
  const double per_pair = absorbed_pair_flops() - expanded_pair_flops();
  return per_pair * causal_pairs(tokens, cached) < per_key * static_cast<double>(cached);
}

// Decodes absorb the expansion; that of prompts depends on their cached tokens and is part of their attention.
void LatentAttention::add_token_work(OperatorList& list, const LayerShare& share) const {
  share.add_projections(list, projections(share.hidden, share.tensor));
  share.add_linear(list, expansion(share.tensor), share.decode_tokens);
  share.add_elementwise(list, Elementwise::Kind::norm, 2, q_rank + kv_rank);
  share.add_elementwise(list, Elementwise::Kind::rope, 2, std::int64_t{heads / share.tensor + 1} * rope_dim);
  if (output_gate)
    share.add_elementwise(list, Elementwise::Kind::activation, 3, std::int64_t{heads / share.tensor} * v_dim);
  if (index) index->add_token_kernels(list, share, rope_dim);
}

// Attention to the latents themselves, as to one head of keys that hold the values.
template <class Attention>
static Attention to_latents(const LatentAttention& layer, const LayerShare& share, Attention work) {
  work.heads = layer.heads / share.tensor;
  work.kernel = layer.index ? AttentionKernel::indexed : AttentionKernel::latent;
  work.kv_heads = 1;
  work.head_dim = layer.kv_rank + layer.rope_dim;
  work.value_dim = layer.kv_rank;
  work.values_in_keys = true;
  return work;
}

PrefillAttention LatentAttention::absorbed_prompts(const LayerShare& share, const Batch& batch) const {
  return to_latents(*this, share, share.prefill(batch, index ? index->entries : 0));
}

// Each chunk in the form that needs fewer FLOPs.
void LatentAttention::add_prompts(OperatorList& list, const LayerShare& share, const Batch& batch) const {
  PrefillAttention absorbed = absorbed_prompts(share, batch);
  const std::vector<PrefillChunk> chunks = std::exchange(absorbed.chunks, {});
  PrefillAttention expanded = absorbed;
  expanded.kv_heads = expanded.heads;
  expanded.head_dim = nope_dim + rope_dim;
  expanded.value_dim = v_dim;
  expanded.values_in_keys = false;
  std::int64_t through_expansion = 0;
  for (const PrefillChunk& chunk : chunks) {
    const bool absorb = index || absorbed_is_cheaper(chunk.tokens, chunk.cached);
    (absorb ? absorbed : expanded).chunks.push_back(chunk);
    through_expansion += chunk.tokens + (absorb ? 0 : chunk.cached);
  }
  share.add_linear(list, expansion(share.tensor), through_expansion);
  if (!expanded.chunks.empty()) list.add(expanded, share.layers);
  if (!absorbed.chunks.empty()) list.add(absorbed, share.layers);
}

void LatentAttention::add_attention(OperatorList& list, const LayerShare& share, const Batch& batch,
                                    const Attended& decodes) const {
  if (index) index->add_scores(list, share, batch);
  if (!batch.chunks.empty()) add_prompts(list, share, batch);
  if (batch.decodes > 0)
    list.add(to_latents(*this, share, share.decode(batch, decodes, index ? index->entries : 0)), share.layers);
}

}  // namespace llmscape::models
