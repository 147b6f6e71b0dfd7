// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/decode_correction.hpp"
#include "hardware/gpu/fitted_range.hpp"
#include "hardware/gpu/pricing.hpp"
#include "hardware/step_tables.hpp"

namespace llmscape::hardware {

// Prices steps of one model on one kind of GPU. What depends on token counts alone is priced once and kept; attention
// is a closed form over the batch's aggregates. Under pipeline parallelism the device time is that of one stage.
class GpuStepModel final : public StepModel {
 public:
  GpuStepModel(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
               const Device::Settings& settings);
  GpuStepModel(const GpuStepModel&) = delete;  // the tables price through it
  GpuStepModel& operator=(const GpuStepModel&) = delete;
  StepPhases phases(const models::Batch& batch) override;
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return range_.warnings(); }

 private:
  // Layers whose attention is alike.
  struct AttentionLayers {
    models::PrefillAttention prefill;
    models::PrefillAttention dense;  // of chunks that do not need a sparse kernel: the same, but for what it leaves out
    const PrefillAttentionParameters* prefill_fit;  // of gpu_
    models::DecodeAttention decode;
    const DecodeAttentionParameters* decode_fit;  // of gpu_, for the format of its KV
    std::size_t law;                              // index into Batch::attended
    int count;
    std::optional<DecodeCorrection> decode_correction;
    models::TokenChange change;
  };

  // Of the groups of `part`, which a token plan has changed alike.
  void add_layers(const models::ModelSpec& part, const models::TokenChange& change);
  std::span<const models::PrefillChunk> seen(const AttentionLayers& layers,
                                             std::span<const models::PrefillChunk> chunks);

  PartCost priced(const std::vector<models::Operator>& operators);
  void add_attention(PartCost& part, const models::Batch& batch);
  void add_attention(PartCost& part, AttentionLayers& layers, std::span<const models::PrefillChunk> chunks) const;

  Gpu gpu_;  // without the correction of decodes, which each kind of layer has for itself
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  bool latent_;  // the attention of prompts is then a choice of forms, with GEMMs of their own
  std::vector<AttentionLayers> attention_;
  std::vector<models::PrefillChunk> seen_;
  FittedRange range_;
  StepTables tables_;
};

}  // namespace llmscape::hardware
