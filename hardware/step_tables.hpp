// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/part_cost.hpp"

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace llmscape::hardware {

// The parts of a step that depend on token counts alone, each priced once and kept.
class StepTables {
 public:
  using Price = std::function<PartCost(const std::vector<models::Operator>&)>;
  StepTables(const models::ModelSpec& model, const models::ParallelPlan& plan, const models::ExpertCoverage& coverage,
             Price price);

  const PartCost& token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens);
  const PartCost& logit_part(std::int64_t rows);

 private:
  using Table = std::vector<std::optional<PartCost>>;  // by count

  models::ModelSpec model_;
  models::ParallelPlan plan_;
  models::ExpertCoverage coverage_;
  Price price_;
  bool phase_matters_;  // expert coverage and latent attention tell prompt tokens from decodes
  Table tokens_, logits_;
  std::unordered_map<std::uint64_t, PartCost> phased_tokens_;  // by chunk tokens and decode tokens
};

}  // namespace llmscape::hardware
