// SPDX-License-Identifier: Apache-2.0
#include "hardware/step_shape.hpp"

#include <algorithm>
#include <span>

#include "models/attention_pairs.hpp"
#include "models/step_work.hpp"

namespace llmscape::hardware {
namespace {

void append(std::vector<Matrix>& to, std::span<const models::Linear> shapes, const models::Format& format) {
  for (const models::Linear& shape : shapes) to.push_back({shape, format});
}

// What mixes the tokens: all of its projections, the output's at their end, and the expansion of latents.
std::vector<Matrix> mixer_matrices(const models::LayerGroup& group, const models::ModelSpec& spec) {
  std::vector<Matrix> all;
  append(all, models::projections(spec.hidden, group.mixer, 1), group.attention_weights(spec.precision));
  if (!all.empty()) all.back().format = group.output_weights(spec.precision);
  if (const auto* latent = std::get_if<models::LatentAttention>(&group.mixer))
    all.push_back({latent->expansion(1), group.attention_weights(spec.precision)});
  return all;
}

void describe_heads(LayerShape& layer, const models::SoftmaxAttention& a) {
  layer.heads = a.heads;
  layer.kv_heads = a.kv_heads;
  layer.key_width = a.head_dim;
  layer.value_width = a.value_width();
  layer.prefill_pair_flops = layer.decode_pair_flops = 2.0 * layer.heads * (a.head_dim + a.value_width());
}

void describe_heads(LayerShape& layer, const models::LatentAttention& a) {
  layer.heads = a.heads;
  layer.kv_heads = 1;
  layer.key_width = a.kv_rank + a.rope_dim;
  layer.value_width = a.kv_rank;
  // Prompts expand the latents to heads, decodes work on the latents themselves (cost-model 2.4).
  layer.prefill_pair_flops = a.index ? a.absorbed_pair_flops() : a.expanded_pair_flops();
  layer.decode_pair_flops = a.absorbed_pair_flops();
  if (a.index) {
    layer.index_pair_flops = a.index->pair_flops();
    layer.index_share = a.index->key_bytes() / layer.kv_bytes;
  } else {
    layer.expansion_flops = 2.0 * static_cast<double>(a.expansion(1).parameters());
  }
}

// Devices with these closed forms refuse other mixers (state_layers_refused).
template <class Other>
void describe_heads(LayerShape&, const Other&) {}

void describe_attention(LayerShape& layer, const models::LayerGroup& group, const models::ModelSpec& spec) {
  const auto laws = models::kv_laws(spec);
  const models::SequenceState state = group.state(spec.precision);
  layer.law = static_cast<std::size_t>(std::find(laws.begin(), laws.end(), state.reach) - laws.begin());
  layer.change = group.change;
  layer.window = group.change.prompt_reach.value_or(models::state_of(group.mixer, spec.precision).reach);
  layer.kv_bytes = state.bytes_per_token;
  std::visit([&layer](const auto& kind) { describe_heads(layer, kind); }, group.mixer);
}

LayerShape describe(const models::LayerGroup& group, const models::ModelSpec& spec) {
  LayerShape layer;
  layer.count = group.count;
  const models::Format& dense = group.dense_weights(spec.precision);
  std::vector<Matrix> common = mixer_matrices(group, spec);
  const models::FeedForward& kind = group.feed_forward;
  if (kind.routed()) {
    common.push_back({models::router(spec.hidden, kind), dense});
    if (kind.shared_width > 0) append(common, models::feed_forward(spec.hidden, kind.shared_width, kind, 1), dense);
    std::vector<Matrix> expert;
    append(expert, models::feed_forward(kind.expert_input(spec.hidden), kind.expert_width, kind, 1),
           spec.precision.expert_weights());
    layer.expert = MatrixSet(std::move(expert));
    layer.experts = kind.experts;
    layer.experts_per_token = kind.experts_per_token;
  } else if (kind.present()) {
    append(common, models::feed_forward(spec.hidden, kind.width, kind, 1), dense);
  }
  layer.common = MatrixSet(std::move(common));
  describe_attention(layer, group, spec);
  return layer;
}

}  // namespace

Bytes Matrix::bytes() const {
  return Bytes(static_cast<double>(k) * static_cast<double>(n) * format.bytes_with_scales());
}

MatrixSet::MatrixSet(std::vector<Matrix> list) : matrices(std::move(list)) {
  for (const Matrix& matrix : matrices) {
    weights += static_cast<double>(matrix.k) * static_cast<double>(matrix.n);
    elements += static_cast<double>(matrix.k + matrix.n);
    bytes += matrix.bytes();
  }
  if (!matrices.empty()) format = matrices.back().format;
}

StepShape::StepShape(const models::ModelSpec& spec, const models::ExpertCoverage& expert_coverage)
    : head({{{spec.hidden, spec.vocabulary}, spec.precision.head_weights()}}), coverage(expert_coverage) {
  for (const auto& group : spec.groups) layers.push_back(describe(group, spec));
  if (!spec.tied_embeddings)
    embedding = Bytes(static_cast<double>(models::table_parameters(spec)) *
                      spec.precision.embedding_weights().bytes_with_scales());
  for (const auto& op : models::token_work(spec, {}, 0, 1, coverage))
    if (const auto* moved = std::get_if<models::Elementwise>(&op.what)) elementwise_bytes += op.count * moved->bytes;
}

LayerLoad StepShape::load(const LayerShape& layer, const models::Batch& batch) const {
  LayerLoad load;
  if (layer.experts > 0) {
    const auto tokens = batch.tokens(), prompts = batch.prefill_tokens();
    double unrelated = 0;
    if (coverage.law == models::ExpertCoverage::Law::related && batch.chunks.size() > 1)
      for (const auto& chunk : batch.chunks) unrelated += models::unrelated_tokens(coverage, chunk.tokens);
    const double share =
        models::expert_share(coverage, layer.experts, layer.experts_per_token, prompts, tokens - prompts, unrelated);
    load.experts_touched = share * layer.experts;
    load.expert_rows = static_cast<double>(tokens * layer.experts_per_token);
  }
  for (const auto& chunk : batch.chunks) {
    const std::int64_t cached = layer.change.cached(chunk.cached);
    const double pairs = models::windowed_pairs(chunk.tokens, cached, layer.window);
    load.prefill.pairs += pairs;
    load.prefill.flops += pairs * layer.prefill_pair_flops + static_cast<double>(cached) * layer.expansion_flops;
    load.prefill.flops += models::causal_pairs(chunk.tokens, cached) * layer.index_pair_flops;
    const bool chosen = layer.index_pair_flops > 0;  // from all of the context
    load.prefill.keys += static_cast<double>(models::keys_read(chunk.tokens, cached, chosen ? 0 : layer.window));
    if (layer.change.scored_queries > 0 && (chunk.ends_prompt || layer.change.scores_each_chunk()))
      load.prefill.flops += 2.0 * layer.heads * layer.key_width *
                            models::estimated_pairs(chunk.tokens, cached, layer.change.scored_queries);
    load.prefill.tokens += static_cast<double>(chunk.tokens);
  }
  if (batch.decodes > 0) {
    // Sum over decodes of q s - q (q - 1) / 2 (cost-model 2.2).
    const auto q = static_cast<double>(batch.tokens_per_decode);
    const auto sequences = static_cast<double>(batch.decodes);
    load.decode.keys = static_cast<double>(batch.attended[layer.law].sum);
    load.decode.pairs = q * load.decode.keys - sequences * q * (q - 1) / 2;
    load.decode.flops = load.decode.pairs * layer.decode_pair_flops;
    load.decode.tokens = sequences * q;
    const auto context = static_cast<double>(batch.attended.front().sum);
    load.decode.flops += q * context * layer.index_pair_flops;
    load.decode.keys += context * layer.index_share;
  }
  return load;
}

}  // namespace llmscape::hardware
