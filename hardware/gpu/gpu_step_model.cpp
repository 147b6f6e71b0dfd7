// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gpu_step_model.hpp"

#include <algorithm>
#include <array>

namespace llmscape::hardware {
namespace {

constexpr std::array kProbeChunk = {models::PrefillChunk{1, 0, true}};

bool latent(const models::LayerGroup& group) { return std::holds_alternative<models::LatentAttention>(group.mixer); }

}  // namespace

GpuPrices::GpuPrices(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
                     const Device::Settings& settings)
    : gpu_(gpu), rates_{*gpu_.peak_bf16, *gpu_.hbm_bandwidth}, power_(gpu_.power()), model_(model), plan_(plan),
      one_call_(settings.execution.attention == models::AttentionForm::flash),
      latent_(std::any_of(model.groups.begin(), model.groups.end(), latent)),
      tables_(model, plan, settings, [this](const auto& operators) { return priced(operators); }) {
  std::vector<models::TokenChange> changes;
  for (const models::LayerGroup& group : model.groups)
    if (std::ranges::find(changes, group.change) == changes.end()) changes.push_back(group.change);
  for (const models::TokenChange& change : changes) {
    models::ModelSpec part = model;
    std::erase_if(part.groups, [&](const models::LayerGroup& group) { return group.change != change; });
    add_layers(part, change);
  }
}

// The attention work of one decode names the shapes of every layer; that of one chunk names them in the same order.
void GpuPrices::add_layers(const models::ModelSpec& part, const models::TokenChange& change) {
  const auto laws = models::kv_laws(model_);
  const std::vector<models::Attended> attended(models::kv_laws(part).size(), {1, 1});
  const std::size_t first = attention_.size();
  for (const auto& op : models::attention_work(part, plan_, {{}, 1, 1, attended})) {
    if (const auto* scores = std::get_if<models::IndexScores>(&op.what)) {
      indexes_.push_back(
          {*scores, &gpu_.indexed_attention_of(scores->kv), gpu_.work_of_attention(scores->kv), op.count});
      continue;
    }
    auto decode = std::get<models::DecodeAttention>(op.what);
    const IndexedAttentionParameters* chosen =
        attends_in_own_kernel(gpu_, decode) ? &gpu_.indexed_attention_of(decode.kv) : nullptr;
    if (decode.kernel == models::AttentionKernel::indexed && !chosen) decode.kernel = models::AttentionKernel::latent;
    const auto law = std::lower_bound(laws.begin(), laws.end(), decode.window) - laws.begin();
    const DecodeAttentionParameters& fit = gpu_.decode_attention_of(decode);
    attention_.push_back({{},
                          {},
                          &gpu_.prefill_attention,
                          decode,
                          &fit,
                          gpu_.work_of_attention(decode.kv),
                          DecodeTable(gpu_, fit),
                          static_cast<std::size_t>(law),
                          op.count,
                          change,
                          {},
                          chosen});
  }
  if (latent_ || change.passed_by_last_only) return;
  const auto chunk_work = models::attention_work(part, plan_, {kProbeChunk, 0, 1, {}});
  for (std::size_t i = first; i < attention_.size(); ++i) {
    attention_[i].prefill = attention_[i].dense = std::get<models::PrefillAttention>(chunk_work.at(i - first).what);
    if (!attention_[i].prefill.sparse_kernel.empty()) attention_[i].dense.window = 0;
    attention_[i].prefill_fit = &gpu_.prefill_attention_of(attention_[i].prefill);
  }
}

PartCost GpuPrices::known_part(const models::Batch& batch) {
  const std::int64_t chunk_tokens = batch.prefill_tokens(), decoded = decoded_tokens(batch);
  PartCost part = tables_.token_part(chunk_tokens, decoded, batch);
  if (batch.adapters > 0) part += tables_.adapter_part(chunk_tokens + decoded, batch.adapters);
  tables_.add_logits(part, batch);
  tables_.add_states(part, batch);
  if (part.outside != 0) note(part.outside, batch);
  return part;
}

std::int64_t GpuPrices::decoded_tokens(const models::Batch& batch) {
  return batch.prefill_tokens() > 0 ? batch.decode_tokens() : batch.decode_tokens() + batch.padding;
}

void GpuPrices::note(unsigned outside, const models::Batch& batch) {
  if ((outside & ~range_->noted()) == 0) return;
  for (const models::Operator& op : tables_.operators(batch, batch.prefill_tokens(), decoded_tokens(batch)))
    range_->check(op.what);
}

PartCost GpuPrices::part_of(const models::Batch& batch, FittedRange& range) {
  range_ = &range;
  if (batch.tokens() == 0) return {};
  PartCost part = known_part(batch);
  add_attention(part, batch);
  tables_.add_execution(part, batch);
  return part;
}

StepPhases GpuPrices::phases(const models::Batch& batch, FittedRange& range) {
  return phases_of(part_of(batch, range), rates_, power_, plan_.devices());
}

StepCost GpuPrices::step(const models::Batch& batch, FittedRange& range) {
  if (!of_decodes(batch)) return cost_of(part_of(batch, range), rates_, power_, plan_.devices());
  range_ = &range;
  const Decodes& known = decodes(batch);
  if (known.outside != 0) note(known.outside, batch);
  OwnAttention own = known.steps->common();
  Seconds extrapolated = known.steps->others().extrapolated;
  for (AttentionLayers& layers : attention_) {
    const Seconds before = own.cost.time;
    if (add_decodes(own, layers, batch)) continue;
    range_->check(layers.decode, *layers.decode_fit);
    extrapolated += own.cost.time - before;
  }
  add_scores(own, batch);
  StepCost cost = known.steps->cost(own);
  cost.extrapolated = extrapolated;
  return cost;
}

bool GpuPrices::add_decodes(OwnAttention& own, AttentionLayers& layers, const models::Batch& batch) {
  layers.decode.sequences = batch.decodes;
  layers.decode.tokens_per_sequence = batch.tokens_per_decode;
  layers.decode.attended = batch.attended[layers.law];
  const KernelCost kernel = decode_cost(layers);
  own.cost.add(kernel, kernel.flops * layers.work, layers.count);
  own.flops += layers.count * kernel.flops;
  return FittedRange::holds(layers.decode, *layers.decode_fit, gpu_);
}

const std::shared_ptr<const DecodeSteps>* GpuPrices::decode_steps(const models::Batch& batch, FittedRange& range) {
  if (!of_decodes(batch)) return nullptr;
  range_ = &range;
  const Decodes& known = decodes(batch);
  return known.outside == 0 ? &known.steps : nullptr;
}

bool GpuPrices::attend(const DecodeSteps& steps, const models::Batch& batch, OwnAttention& own) {
  own = steps.common();
  for (AttentionLayers& layers : attention_)
    if (!add_decodes(own, layers, batch)) return false;
  if (!indexes_.empty()) add_scores(own, batch);
  return true;
}

void GpuPrices::add_scores(OwnAttention& own, const models::Batch& batch) {
  for (IndexLayers& layers : indexes_) {
    const KernelCost kernel = score_cost(layers, batch);
    own.cost.add(kernel, kernel.flops * layers.work, layers.count);
    own.flops += layers.count * kernel.flops;
  }
}

const GpuPrices::Decodes& GpuPrices::decodes(const models::Batch& batch) {
  const auto number = static_cast<std::size_t>(batch.decodes);
  if (number >= decodes_.size()) decodes_.resize(number + 1);
  std::optional<Decodes>& known = decodes_[number];
  if (known && known->holds(batch)) return *known;
  const PartCost part = known_part(batch);
  for (const AttentionLayers& layers : attention_) range_->check(layers.prefill, {});  // notes unknown kernels
  known.emplace(Decodes{batch.tokens_per_decode, batch.late, batch.padding, batch.adapters,
                        std::make_shared<const DecodeSteps>(part, rates_, power_, plan_.devices()), part.outside});
  return *known;
}

void GpuPrices::add_attention(PartCost& part, const models::Batch& batch) {
  if (latent_ && !batch.chunks.empty()) part += priced(models::attention_work(model_, plan_, {batch.chunks, 0, 1, {}}));
  const std::span<const models::PrefillChunk> chunks = latent_ ? std::span<const models::PrefillChunk>() : batch.chunks;
  for (AttentionLayers& layers : attention_) {
    layers.decode.sequences = batch.decodes;
    layers.decode.tokens_per_sequence = batch.tokens_per_decode;
    layers.decode.attended = batch.decodes > 0 ? batch.attended[layers.law] : models::Attended();
    layers.decode.contexts = layers.decode.masks && batch.decodes > 0 ? batch.attended.front().sum : 0;
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
    if (!range_->check(layers.prefill, prompts))
      part.extrapolated += part.of(OperatorFamily::prefill_attention) - prefill;
    if (!range_->check(layers.decode, *layers.decode_fit))
      part.extrapolated += part.of(OperatorFamily::decode_attention) - decode;
  }
  for (IndexLayers& layers : indexes_) {
    if (batch.decodes == 0) break;
    const KernelCost scores = score_cost(layers, batch);
    part.add(OperatorFamily::decode_attention, scores, scores.flops * layers.work, layers.count);
  }
}

KernelCost GpuPrices::decode_cost(AttentionLayers& layers) const {
  if (!layers.chosen_fit) return layers.decodes.cost(layers.decode);
  return indexed_attention_cost(gpu_, *layers.chosen_fit, layers.decode);
}

KernelCost GpuPrices::score_cost(IndexLayers& layers, const models::Batch& batch) const {
  layers.decode.sequences = batch.decodes;
  layers.decode.tokens_per_sequence = batch.tokens_per_decode;
  layers.decode.context = batch.attended.front();
  return index_cost(gpu_, *layers.fit, layers.decode);
}

// The chunks as these layers have them: the tokens that pass them, before what their budget has dropped.
std::span<const models::PrefillChunk> GpuPrices::seen(const AttentionLayers& layers,
                                                      std::span<const models::PrefillChunk> chunks) {
  if (!layers.change.budget.each_chunk && !layers.change.passing.limits()) return chunks;
  seen_.assign(chunks.begin(), chunks.end());
  for (models::PrefillChunk& chunk : seen_) {
    chunk.tokens = layers.change.passing.of(chunk.tokens);
    chunk.cached = layers.change.cached(chunk.cached);
  }
  return seen_;
}

void GpuPrices::add_attention(PartCost& part, AttentionLayers& layers, std::span<const models::PrefillChunk> chunks) {
  const bool sparse = runs_sparse(layers.prefill, chunks);
  KernelCost prefill = sparse ? sparse_attention_cost(gpu_, layers.prefill, chunks) : prompt_cost(layers, chunks);
  KernelCost decode;
  if (layers.decode.sequences > 0 && !chunks.empty() && layers.prefill_fit->takes_decodes && one_call_ && !sparse) {
    // One kernel: what the decodes add to it is theirs.
    decode = mixed_attention_cost(gpu_, *layers.prefill_fit, layers.dense, chunks, layers.decode) - prefill;
    decode.time += attention_tail(*layers.decode_fit, layers.decode);
  } else {
    decode = decode_cost(layers);
  }
  if (layers.prefill.estimate_queries > 0 && !sparse) prefill += selection_cost(gpu_, layers.prefill, chunks);
  part.add(OperatorFamily::prefill_attention, prefill, prefill.flops * layers.work, layers.count);
  part.add(OperatorFamily::decode_attention, decode, decode.flops * layers.work, layers.count);
}

// Of a dense kernel.
KernelCost GpuPrices::prompt_cost(AttentionLayers& layers, std::span<const models::PrefillChunk> chunks) const {
  constexpr std::int64_t kMostKept = 1 << 14;  // tokens; longer ones are rare
  if (chunks.empty()) return {};
  const models::PrefillChunk& first = chunks.front();
  if (chunks.size() > 1 || first.cached > 0 || first.tokens >= kMostKept)
    return prefill_attention_cost(gpu_, *layers.prefill_fit, layers.dense, chunks);
  const auto tokens = static_cast<std::size_t>(first.tokens);
  if (tokens >= layers.whole_prompts.size()) layers.whole_prompts.resize(tokens + 1);
  auto& known = layers.whole_prompts[tokens];
  if (!known)
    known = std::make_unique<const KernelCost>(prefill_attention_cost(gpu_, *layers.prefill_fit, layers.dense, chunks));
  return *known;
}

PartCost GpuPrices::priced(const std::vector<models::Operator>& operators) {
  PartCost all;
  for (const models::Operator& op : operators) {
    const bool outside = !range_->check(op.what);
    // Nearly all are one kernel, which is added in place. Prompts' attention may be two, to be summed first.
    if (!outside && !std::holds_alternative<models::PrefillAttention>(op.what)) {
      add_price(gpu_, op, all);
      continue;
    }
    PartCost part = price(gpu_, {&op, 1});
    if (outside) {
      part.extrapolated = part.time();
      part.outside = FittedRange::bit_of(op.what);
    }
    all += part;
  }
  return all;
}

}  // namespace llmscape::hardware
