// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gpu_step_model.hpp"

#include <algorithm>
#include <numeric>

namespace llmscape::hardware {
namespace {

bool tells_phases_apart(const models::ModelSpec& model) {
  return std::any_of(model.groups.begin(), model.groups.end(), [](const models::LayerGroup& group) {
    return group.feed_forward.routed() || group.attention.kind == models::Attention::Kind::mla;
  });
}

}  // namespace

GpuStepModel::GpuStepModel(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                           const Device::Settings& settings)
    : gpu_(gpu),
      model_(model),
      plan_(plan),
      settings_(settings),
      stage_layers_((model.layers() + plan.pipeline - 1) / plan.pipeline),
      phase_matters_(tells_phases_apart(model)),
      range_(gpu_) {
  // The attention work of one decode names the shapes of every layer.
  const auto laws = models::kv_laws(model);
  const std::vector<models::Attended> attended(laws.size(), {1, 1});
  for (const auto& op : models::attention_work(model, plan, {{}, 1, 1, attended})) {
    const auto& shape = std::get<models::DecodeAttention>(op.what);
    const auto law = std::lower_bound(laws.begin(), laws.end(), shape.window) - laws.begin();
    decode_layers_.push_back({shape, static_cast<std::size_t>(law), op.count});
  }
}

StepCost GpuStepModel::step(const models::Batch& batch) {
  PartCost part;
  const std::int64_t chunk_tokens = batch.prefill_tokens();
  const std::int64_t decode_tokens = batch.decodes * batch.tokens_per_decode;
  if (chunk_tokens + decode_tokens > 0) {
    part += token_part(chunk_tokens, chunk_tokens > 0 ? decode_tokens : padded_tokens(decode_tokens, settings_));
    part += logit_part(batch.logit_rows());
    if (!batch.chunks.empty()) part += priced(models::attention_work(model_, plan_, {batch.chunks, 0, 1, {}}));
    if (batch.decodes > 0) add_decode_attention(part, batch);
  }
  return finish(part, host_time(gpu_.host, settings_, batch, stage_layers_));
}

void GpuStepModel::add_decode_attention(PartCost& part, const models::Batch& batch) {
  for (DecodeLayers& layers : decode_layers_) {
    layers.shape.sequences = batch.decodes;
    layers.shape.tokens_per_sequence = batch.tokens_per_decode;
    layers.shape.attended = batch.attended[layers.law];
    range_.check(layers.shape);
    part.add(OperatorFamily::decode_attention, decode_attention_cost(gpu_, gpu_.decode_attention, layers.shape),
             layers.count);
  }
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
