// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/decode_steps.hpp"
#include "hardware/gpu/decode_table.hpp"
#include "hardware/gpu/fitted_range.hpp"
#include "hardware/gpu/pricing.hpp"
#include "hardware/shared_prices.hpp"
#include "hardware/step_tables.hpp"

#include <memory>
#include <utility>

namespace llmscape::hardware {

// Prices steps of one model on one kind of GPU. What depends on token counts alone is priced once and kept; attention
// is a closed form over the batch's aggregates. Under pipeline parallelism the device time is that of one stage.
// What operators leave their ranges is noted for whom it prices.
class GpuPrices {
 public:
  GpuPrices(const Gpu& gpu, const models::ModelSpec& model, const models::ParallelPlan& plan,
            const Device::Settings& settings);
  GpuPrices(const GpuPrices&) = delete;  // the tables price through it
  GpuPrices& operator=(const GpuPrices&) = delete;
  StepPhases phases(const models::Batch& batch, FittedRange& range);
  StepCost step(const models::Batch& batch, FittedRange& range);
  // As DecodePrices has them.
  const std::shared_ptr<const DecodeSteps>* decode_steps(const models::Batch& batch, FittedRange& range);
  bool attend(const DecodeSteps& steps, const models::Batch& batch, OwnAttention& own);
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }

 private:
  // Layers whose attention is alike.
  struct AttentionLayers {
    models::PrefillAttention prefill;
    models::PrefillAttention dense;  // of chunks that do not need a sparse kernel: the same, but for what it leaves out
    const PrefillAttentionParameters* prefill_fit;  // of gpu_
    models::DecodeAttention decode;
    const DecodeAttentionParameters* decode_fit;  // of gpu_, for the format of its KV
    JoulesPerFlop work;
    DecodeTable decodes;
    std::size_t law;  // index into Batch::attended
    double count;
    models::TokenChange change;
    // One that is computed alone, from its start, by its tokens: most lengths never come.
    std::vector<std::unique_ptr<const KernelCost>> whole_prompts;
    const IndexedAttentionParameters* chosen_fit = nullptr;  // of gpu_: decodes attend to chosen entries in its kernel
  };
  // Layers whose decodes score their context alike.
  struct IndexLayers {
    models::IndexScores decode;
    const IndexedAttentionParameters* fit;  // of gpu_
    JoulesPerFlop work;
    double count;
  };
  // What of a step of decodes alone does not depend on what they attend to.
  struct Decodes {
    std::int64_t tokens_per_decode, late, padding, adapters;  // it holds for these
    std::shared_ptr<const DecodeSteps> steps;
    unsigned outside;  // PartCost::outside
    [[nodiscard]] bool holds(const models::Batch& batch) const {
      return tokens_per_decode == batch.tokens_per_decode && late == batch.late && padding == batch.padding &&
             adapters == batch.adapters;
    }
  };

  // Of the groups of `part`, which a token plan has changed alike.
  void add_layers(const models::ModelSpec& part, const models::TokenChange& change);
  std::span<const models::PrefillChunk> seen(const AttentionLayers& layers,
                                             std::span<const models::PrefillChunk> chunks);

  [[nodiscard]] KernelCost decode_cost(AttentionLayers& layers) const;
  // Of the decodes of a step.
  KernelCost score_cost(IndexLayers& layers, const models::Batch& batch) const;
  KernelCost prompt_cost(AttentionLayers& layers, std::span<const models::PrefillChunk> chunks) const;
  PartCost priced(const std::vector<models::Operator>& operators);
  PartCost part_of(const models::Batch& batch, FittedRange& range);
  // All but attention.
  PartCost known_part(const models::Batch& batch);
  // Notes what of that lies outside, where it was priced for somebody else.
  void note(unsigned outside, const models::Batch& batch);
  [[nodiscard]] static std::int64_t decoded_tokens(const models::Batch& batch);
  // Whether a step follows from its numbers and what its decodes attend to.
  [[nodiscard]] bool of_decodes(const models::Batch& batch) const {
    return batch.chunks.empty() && batch.decodes > 0 && batch.ranks.alike() && !tables_.adds_execution();
  }
  const Decodes& decodes(const models::Batch& batch);
  // Adds the decodes' attention in these layers; false: it lies outside what was fitted.
  bool add_decodes(OwnAttention& own, AttentionLayers& layers, const models::Batch& batch);
  void add_scores(OwnAttention& own, const models::Batch& batch);
  void add_attention(PartCost& part, const models::Batch& batch);
  void add_attention(PartCost& part, AttentionLayers& layers, std::span<const models::PrefillChunk> chunks);

  Gpu gpu_;
  Rates rates_;
  PowerModel power_;
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  bool one_call_;  // prompts and decodes of a step are in one call of attention
  bool latent_;    // the attention of prompts is then a choice of forms, with GEMMs of their own
  std::vector<AttentionLayers> attention_;
  std::vector<IndexLayers> indexes_;
  std::vector<models::PrefillChunk> seen_;
  FittedRange* range_ = nullptr;  // of whom it prices
  StepTables tables_;
  std::vector<std::optional<Decodes>> decodes_;  // by their number
};

// One replica's.
class alignas(64) GpuStepModel final : public StepModel, public SharedPrices, public DecodePrices {
 public:
  explicit GpuStepModel(std::shared_ptr<GpuPrices> prices) : prices_(std::move(prices)), range_(prices_->gpu()) {}
  StepPhases phases(const models::Batch& batch) override { return prices_->phases(batch, range_); }
  StepCost step(const models::Batch& batch) override { return prices_->step(batch, range_); }
  const std::shared_ptr<const DecodeSteps>* decode_steps(const models::Batch& batch) override {
    return prices_->decode_steps(batch, range_);
  }
  bool attend(const DecodeSteps& steps, const models::Batch& batch, OwnAttention& own) override {
    return prices_->attend(steps, batch, own);
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return range_.warnings(); }
  [[nodiscard]] std::unique_ptr<StepModel> another() const override { return std::make_unique<GpuStepModel>(prices_); }

 private:
  std::shared_ptr<GpuPrices> prices_;
  FittedRange range_;
};

}  // namespace llmscape::hardware
