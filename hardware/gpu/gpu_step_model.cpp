// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gpu_step_model.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace llmscape::hardware {
namespace {

constexpr std::array kProbeChunk = {models::PrefillChunk{1, 0, true}};

template <class Condition>
bool any_layer(const models::ModelSpec& model, Condition condition) {
  return std::any_of(model.groups.begin(), model.groups.end(), condition);
}

}  // namespace

GpuStepModel::GpuStepModel(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                           const Device::Settings& settings)
    : gpu_(gpu),
      model_(model),
      plan_(plan),
      settings_(settings),
      stage_layers_((model.layers() + plan.pipeline - 1) / plan.pipeline),
      latent_(any_layer(model, [](const auto& layers) { return layers.attention.kind == models::Attention::Kind::mla; })),
      phase_matters_(latent_ || any_layer(model, [](const auto& layers) { return layers.feed_forward.routed(); })),
      range_(gpu_) {
  // The attention work of one decode names the shapes of every layer; that of one chunk names them in the same order.
  const auto laws = models::kv_laws(model);
  const std::vector<models::Attended> attended(laws.size(), {1, 1});
  for (const auto& op : models::attention_work(model, plan, {{}, 1, 1, attended})) {
    const auto& decode = std::get<models::DecodeAttention>(op.what);
    const auto law = std::lower_bound(laws.begin(), laws.end(), decode.window) - laws.begin();
    attention_.push_back({{}, decode, static_cast<std::size_t>(law), op.count});
  }
  if (latent_) return;
  const auto chunk_work = models::attention_work(model, plan, {kProbeChunk, 0, 1, {}});
  for (std::size_t i = 0; i < attention_.size(); ++i)
    attention_[i].prefill = std::get<models::PrefillAttention>(chunk_work.at(i).what);
}

StepCost GpuStepModel::step(const models::Batch& batch) {
  PartCost part;
  const std::int64_t chunk_tokens = batch.prefill_tokens();
  const std::int64_t decode_tokens = batch.decodes * batch.tokens_per_decode;
  if (chunk_tokens + decode_tokens > 0) {
    part += token_part(chunk_tokens, chunk_tokens > 0 ? decode_tokens : padded_tokens(decode_tokens, settings_));
    part += logit_part(batch.logit_rows());
    add_attention(part, batch);
  }
  return finish(part, host_time(gpu_.host, settings_, batch, stage_layers_));
}

void GpuStepModel::add_attention(PartCost& part, const models::Batch& batch) {
  if (latent_ && !batch.chunks.empty()) part += priced(models::attention_work(model_, plan_, {batch.chunks, 0, 1, {}}));
  const std::span<const models::PrefillChunk> chunks = latent_ ? std::span<const models::PrefillChunk>() : batch.chunks;
  range_.check(chunks);
  for (AttentionLayers& layers : attention_) {
    layers.decode.sequences = batch.decodes;
    layers.decode.tokens_per_sequence = batch.tokens_per_decode;
    layers.decode.attended = batch.decodes > 0 ? batch.attended[layers.law] : models::Attended();
    range_.check(layers.decode);
    add_attention(part, layers, chunks);
  }
}

void GpuStepModel::add_attention(PartCost& part, const AttentionLayers& layers,
                                 std::span<const models::PrefillChunk> chunks) const {
  const KernelCost prefill = prefill_attention_cost(gpu_, gpu_.prefill_attention, layers.prefill, chunks);
  KernelCost decode;
  if (layers.decode.sequences > 0 && !chunks.empty() && gpu_.prefill_attention.takes_decodes) {
    // One kernel: what the decodes add to it is theirs.
    decode = mixed_attention_cost(gpu_, gpu_.prefill_attention, layers.prefill, chunks, layers.decode) - prefill;
  } else {
    decode = decode_attention_cost(gpu_, gpu_.decode_attention, layers.decode);
  }
  part.add(OperatorFamily::prefill_attention, prefill, layers.count);
  part.add(OperatorFamily::decode_attention, decode, layers.count);
}

const PartCost& GpuStepModel::token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens) {
  const auto compute = [&] {
    return priced(models::token_work(model_, plan_, chunk_tokens, decode_tokens, settings_.coverage));
  };
  if (phase_matters_) {
    const std::uint64_t key = static_cast<std::uint64_t>(chunk_tokens) << 32 | static_cast<std::uint64_t>(decode_tokens);
    const auto found = phased_tokens_.find(key);
    return found != phased_tokens_.end() ? found->second : phased_tokens_.emplace(key, compute()).first->second;
  }
  const auto tokens = static_cast<std::size_t>(chunk_tokens + decode_tokens);
  if (tokens >= tokens_.size()) tokens_.resize(tokens + 1);
  if (!tokens_[tokens]) tokens_[tokens] = compute();
  return *tokens_[tokens];
}

const PartCost& GpuStepModel::logit_part(std::int64_t logit_rows) {
  const auto rows = static_cast<std::size_t>(logit_rows);
  if (rows >= logits_.size()) logits_.resize(rows + 1);
  if (!logits_[rows]) logits_[rows] = rows > 0 ? priced(models::logit_work(model_, plan_, logit_rows)) : PartCost{};
  return *logits_[rows];
}

PartCost GpuStepModel::priced(const std::vector<models::Operator>& operators) {
  for (const auto& op : operators) range_.check(op.what);
  return price(gpu_, operators);
}

StepCost GpuStepModel::finish(const PartCost& part, Seconds host) const {
  StepCost cost;
  cost.device = std::accumulate(part.by_family.begin(), part.by_family.end(), Seconds());
  cost.by_family = part.by_family;
  cost.host = host;
  cost.flops = part.flops;
  cost.bytes = part.bytes;

  const Joules compute = part.bf16_flops * gpu_.energy.compute;
  const Joules memory = part.bytes * gpu_.energy.memory;
  const Joules link = part.link_bytes * gpu_.energy.link;
  // At the power limit the clock falls: the step lasts until its energy has been drawn.
  const Seconds at_limit = (compute + memory + link) / (*gpu_.tdp - *gpu_.idle);
  if (at_limit > cost.device) {
    for (Seconds& family : cost.by_family) family *= at_limit / cost.device;
    cost.device = at_limit;
  }
  cost.by_family[static_cast<std::size_t>(OperatorFamily::host)] = host;
  const int devices = plan_.devices();
  cost.energy = {devices * compute, devices * memory, devices * link, Joules()};
  return cost;
}

}  // namespace llmscape::hardware
