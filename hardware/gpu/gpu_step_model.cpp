// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gpu_step_model.hpp"

#include <algorithm>
#include <array>

namespace llmscape::hardware {
namespace {

constexpr std::array kProbeChunk = {models::PrefillChunk{1, 0, true}};

bool latent(const models::LayerGroup& group) { return std::holds_alternative<models::LatentAttention>(group.mixer); }

}  // namespace

GpuStepModel::GpuStepModel(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                           const Device::Settings& settings)
    : gpu_(gpu), model_(model), plan_(plan), latent_(std::any_of(model.groups.begin(), model.groups.end(), latent)),
      range_(gpu_), tables_(model, plan, settings, [this](const auto& operators) { return priced(operators); }) {
  std::vector<models::TokenChange> changes;
  for (const models::LayerGroup& group : model.groups)
    if (std::ranges::find(changes, group.change) == changes.end()) changes.push_back(group.change);
  for (const models::TokenChange& change : changes) {
    models::ModelSpec part = model;
    std::erase_if(part.groups, [&](const models::LayerGroup& group) { return group.change != change; });
    add_layers(part, change);
  }
  gpu_.decode_attention.correction.reset();
  for (auto* by_format : {&gpu_.decode_attention_by_kv, &gpu_.latent_decode_attention})
    for (auto& [kv, parameters] : *by_format) parameters.correction.reset();
}

// The attention work of one decode names the shapes of every layer; that of one chunk names them in the same order.
void GpuStepModel::add_layers(const models::ModelSpec& part, const models::TokenChange& change) {
  const auto laws = models::kv_laws(model_);
  const std::vector<models::Attended> attended(models::kv_laws(part).size(), {1, 1});
  const std::size_t first = attention_.size();
  for (const auto& op : models::attention_work(part, plan_, {{}, 1, 1, attended})) {
    const auto& decode = std::get<models::DecodeAttention>(op.what);
    const auto law = std::lower_bound(laws.begin(), laws.end(), decode.window) - laws.begin();
    const DecodeAttentionParameters& fit = gpu_.decode_attention_of(decode);
    attention_.push_back(
        {{}, {}, &gpu_.prefill_attention, decode, &fit, static_cast<std::size_t>(law), op.count, {}, change});
    if (fit.correction && decode.kernel == fit.kernel) attention_.back().decode_correction.emplace(*fit.correction);
  }
  if (latent_ || change.passed_by_last_only) return;
  const auto chunk_work = models::attention_work(part, plan_, {kProbeChunk, 0, 1, {}});
  for (std::size_t i = first; i < attention_.size(); ++i) {
    attention_[i].prefill = attention_[i].dense = std::get<models::PrefillAttention>(chunk_work.at(i - first).what);
    if (!attention_[i].prefill.sparse_kernel.empty()) attention_[i].dense.window = 0;
    attention_[i].prefill_fit = &gpu_.prefill_attention_of(attention_[i].prefill);
  }
}

StepPhases GpuStepModel::phases(const models::Batch& batch) {
  PartCost part;
  const std::int64_t chunk_tokens = batch.prefill_tokens();
  const std::int64_t decode_tokens = batch.decode_tokens();
  if (chunk_tokens + decode_tokens > 0) {
    const std::int64_t decoded = chunk_tokens > 0 ? decode_tokens : decode_tokens + batch.padding;
    part = tables_.token_part(chunk_tokens, decoded, batch);
    if (batch.adapters > 0) part += tables_.adapter_part(chunk_tokens + decoded, batch.adapters);
    tables_.add_logits(part, batch);
    tables_.add_states(part, batch);
    add_attention(part, batch);
    tables_.add_execution(part, batch);
  }
  return phases_of(part, {*gpu_.peak_bf16, *gpu_.hbm_bandwidth}, gpu_.power(), plan_.devices());
}

void GpuStepModel::add_attention(PartCost& part, const models::Batch& batch) {
  if (latent_ && !batch.chunks.empty()) part += priced(models::attention_work(model_, plan_, {batch.chunks, 0, 1, {}}));
  const std::span<const models::PrefillChunk> chunks = latent_ ? std::span<const models::PrefillChunk>() : batch.chunks;
  for (AttentionLayers& layers : attention_) {
    layers.decode.sequences = batch.decodes;
    layers.decode.tokens_per_sequence = batch.tokens_per_decode;
    layers.decode.attended = batch.decodes > 0 ? batch.attended[layers.law] : models::Attended();
    const auto prompts =
        layers.change.passed_by_last_only ? std::span<const models::PrefillChunk>() : seen(layers, chunks);
    if (layers.change.passed_by_last_only && !chunks.empty()) {
      const models::Attended last = models::last_tokens(chunks, layers.decode.window);
      layers.decode.sequences += batch.prompt_ends();
      layers.decode.attended.sum += last.sum;
      layers.decode.attended.max = std::max(layers.decode.attended.max, last.max);
    }
    const Seconds prefill = part.of(OperatorFamily::prefill_attention);
    const Seconds decode = part.of(OperatorFamily::decode_attention);
    add_attention(part, layers, prompts);
    if (!range_.check(layers.prefill, prompts))
      part.extrapolated += part.of(OperatorFamily::prefill_attention) - prefill;
    if (!range_.check(layers.decode, *layers.decode_fit))
      part.extrapolated += part.of(OperatorFamily::decode_attention) - decode;
  }
}

// The chunks as these layers have them: the tokens that pass them, before what their budget has dropped.
std::span<const models::PrefillChunk> GpuStepModel::seen(const AttentionLayers& layers,
                                                         std::span<const models::PrefillChunk> chunks) {
  if (!layers.change.budget.each_chunk && !layers.change.passing.limits()) return chunks;
  seen_.assign(chunks.begin(), chunks.end());
  for (models::PrefillChunk& chunk : seen_) {
    chunk.tokens = layers.change.passing.of(chunk.tokens);
    chunk.cached = layers.change.cached(chunk.cached);
  }
  return seen_;
}

void GpuStepModel::add_attention(PartCost& part, AttentionLayers& layers,
                                 std::span<const models::PrefillChunk> chunks) const {
  const bool sparse = runs_sparse(layers.prefill, chunks);
  KernelCost prefill = sparse ? sparse_attention_cost(gpu_, layers.prefill, chunks)
                              : prefill_attention_cost(gpu_, *layers.prefill_fit, layers.dense, chunks);
  KernelCost decode;
  if (layers.decode.sequences > 0 && !chunks.empty() && layers.prefill_fit->takes_decodes && !sparse) {
    // One kernel: what the decodes add to it is theirs.
    decode = mixed_attention_cost(gpu_, *layers.prefill_fit, layers.dense, chunks, layers.decode) - prefill;
    decode.time += attention_tail(*layers.decode_fit, layers.decode);
  } else {
    decode = decode_attention_cost(gpu_, *layers.decode_fit, layers.decode);
    if (layers.decode.sequences > 0 && layers.decode_correction)
      decode.time *= layers.decode_correction->factor(layers.decode);
  }
  if (layers.prefill.estimate_queries > 0 && !sparse) prefill += selection_cost(gpu_, layers.prefill, chunks);
  part.add(OperatorFamily::prefill_attention, prefill, gpu_.work_of_attention(prefill), layers.count);
  part.add(OperatorFamily::decode_attention, decode, gpu_.work_of_attention(decode), layers.count);
}

PartCost GpuStepModel::priced(const std::vector<models::Operator>& operators) {
  PartCost all;
  for (const models::Operator& op : operators) {
    PartCost part = price(gpu_, {&op, 1});
    if (!range_.check(op.what)) part.extrapolated = part.time();
    all += part;
  }
  return all;
}

}  // namespace llmscape::hardware
