// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cim/step.hpp"

namespace llmscape::hardware {

// Prices the steps of one model on one chip. Where the weights lie is worked out once.
class CimStepModel final : public StepModel {
 public:
  CimStepModel(CimDevice, const models::ModelSpec&, const models::ExpertCoverage&);
  StepPhases phases(const models::Batch&) override;

 private:
  using Loads = std::array<CimLoad, kOperatorFamilies>;
  [[nodiscard]] Loads loads(const models::Batch&) const;
  // `sets` matrix sets of which `pinned` stay in macros of their own, each seeing `vectors` vectors.
  // `vectors` pass each matrix, of the `tokens` that pass the layers.
  [[nodiscard]] CimLoad products(const MatrixSet&, const TiledSet&, double pinned, double streamed, double vectors,
                                 double tokens) const;
  [[nodiscard]] CimLoad prefill_attention(const LayerShape&, const models::Batch&, const AttentionLoad&) const;
  [[nodiscard]] CimLoad decode_attention(const LayerShape&, const models::Batch&, const AttentionLoad&) const;

  CimDevice chip_;
  models::KvFormat kv_;
  StepShape shape_;
  Mapping mapping_;
  std::int64_t computing_macros_;
};

}  // namespace llmscape::hardware
