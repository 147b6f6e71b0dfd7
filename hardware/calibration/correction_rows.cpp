// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/correction_rows.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/gpu/correction_features.hpp"

namespace llmscape::hardware {
namespace {

CorrectionRow::Kernel product(Features features, Seconds by_form) {
  features.set(Feature::seconds, by_form.si());
  return {features, by_form.si()};
}

}  // namespace

std::vector<CorrectionRow> correction_rows(const Chip& chip, const ElementwiseParameters& elementwise,
                                           const GemmParameters& p, std::span<const traces::TimedGemm> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedGemm& r : records) {
    const auto [gemm, quantisation] = product_of(chip, elementwise, r);
    rows.push_back(
        {{product(features_of(chip, gemm), gemm_cost(chip, p, gemm).time)}, quantisation, r.time.si(), {r.n, r.k}});
  }
  return rows;
}

std::vector<CorrectionRow> correction_rows(const Chip& chip, const ElementwiseParameters& elementwise,
                                           const GemmParameters& p, std::span<const traces::TimedExpertLayer> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedExpertLayer& r : records) {
    const ExpertLayerWork work = expert_layer_work(r);
    CorrectionRow& row = rows.emplace_back();
    for (const models::GroupedGemm& gemm : {work.up, work.down})
      row.kernels.push_back(product(features_of(gemm, is_tuned({p.tuned.begin(), p.tuned.end()}, gemm)),
                                    grouped_gemm_cost(chip, p, gemm).time));
    for (const models::Elementwise& stream : work.streams)
      row.rest += elementwise_cost(chip, elementwise, stream).time.si();
    row.measured = r.time.si();
    row.shape = {r.hidden, r.expert_width, r.experts, r.experts_per_token};
  }
  return rows;
}

std::vector<CorrectionRow> correction_rows(const Chip& chip, const DecodeAttentionParameters& p,
                                           const std::optional<WarmCache>& warm,
                                           std::span<const traces::TimedDecodeAttention> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedDecodeAttention& r : records) {
    auto attention = of_heads<models::DecodeAttention>(r);
    attention.sequences = r.sequences;
    attention.attended = attended(r);
    attention.window = r.window;
    attention.masks = r.window > 0;
    attention.contexts = r.sequences * r.context;
    const bool alone = apart(chip, p, attention);
    rows.push_back({{{features_of(attention, alone), decode_attention_cost(chip, p, attention, warm).time.si()}},
                    0,
                    r.time.si(),
                    head_shape(r),
                    1,
                    alone || r.heads == r.kv_heads});
  }
  return rows;
}

std::vector<CorrectionRow> correction_rows(const Chip& chip, const PrefillAttentionParameters& p,
                                           std::span<const traces::TimedPrefillAttention> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedPrefillAttention& r : records) {
    auto shape = of_heads<models::PrefillAttention>(r);
    shape.window = r.window;
    const std::vector<models::PrefillChunk> chunks(static_cast<std::size_t>(r.sequences), {r.tokens, r.cached, false});
    rows.push_back({{{features_of(shape, chunks), prefill_attention_cost(chip, p, shape, chunks).time.si()}},
                    0,
                    r.time.si(),
                    head_shape(r)});
  }
  return rows;
}

std::vector<CorrectionRow> correction_rows(const Chip& chip, const DecodeAttentionParameters& p,
                                           const std::optional<WarmCache>& warm,
                                           std::span<const traces::TimedLatentAttention> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedLatentAttention& r : records) {
    const models::DecodeAttention attention = latent_decode(r);
    rows.push_back({{{features_of(attention, false), decode_attention_cost(chip, p, attention, warm).time.si()}},
                    0,
                    r.time.si(),
                    {r.heads, r.sequences}});
  }
  return rows;
}

std::vector<CorrectionRow> correction_rows(const Chip& chip, const PrefillAttentionParameters& p,
                                           std::span<const traces::TimedLatentAttention> records) {
  std::vector<CorrectionRow> rows;
  for (const traces::TimedLatentAttention& r : records) {
    const models::PrefillAttention shape = latent_prompts(r);
    rows.push_back(
        {{{features_of(shape, shape.chunks), prefill_attention_cost(chip, p, shape, shape.chunks).time.si()}},
         0,
         r.time.si(),
         {r.heads, r.sequences}});
  }
  return rows;
}

}  // namespace llmscape::hardware
