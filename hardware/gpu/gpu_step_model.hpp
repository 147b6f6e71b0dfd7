// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <unordered_map>

#include "hardware/gpu/fitted_range.hpp"
#include "hardware/gpu/pricing.hpp"

namespace llmscape::hardware {

// Prices steps of one model on one kind of GPU. What depends on token counts alone is priced once and kept; attention is a
// closed form over the batch's aggregates. Under pipeline parallelism the device time is that of one stage.
class GpuStepModel final : public StepModel {
 public:
  GpuStepModel(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Device::Settings& settings);
  StepCost step(const models::Batch& batch) override;
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return range_.warnings(); }

 private:
  using Table = std::vector<std::optional<PartCost>>;  // by count

  // Layers whose attention is alike.
  struct AttentionLayers {
    models::PrefillAttention prefill;
    models::DecodeAttention decode;
    std::size_t law;  // index into Batch::attended
    int count;
  };

  const PartCost& token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens);
  const PartCost& logit_part(std::int64_t rows);
  PartCost priced(const std::vector<models::Operator>& operators);
  void add_attention(PartCost& part, const models::Batch& batch);
  void add_attention(PartCost& part, const AttentionLayers& layers, std::span<const models::PrefillChunk> chunks) const;
  [[nodiscard]] StepCost finish(const PartCost& part, Seconds host) const;

  Gpu gpu_;
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  Device::Settings settings_;
  int stage_layers_;
  bool latent_;         // the attention of prompts is then a choice of forms, with products of their own
  bool phase_matters_;  // expert coverage or latent attention tell prompt tokens from decodes
  std::vector<AttentionLayers> attention_;
  Table tokens_, logits_;
  std::unordered_map<std::uint64_t, PartCost> phased_tokens_;  // by chunk tokens and decode tokens
  FittedRange range_;
};

}  // namespace llmscape::hardware
