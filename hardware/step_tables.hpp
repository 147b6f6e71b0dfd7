// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/part_cost.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace llmscape::hardware {

// The parts of a step that depend on token counts alone, each priced once and kept.
class StepTables {
 public:
  using Price = std::function<PartCost(const std::vector<models::Operator>&)>;
  StepTables(const models::ModelSpec& model, const models::ParallelPlan& plan, const Device::Settings& settings,
             Price price);

  // The counts as in models::token_work, of a batch that says the rest.
  const PartCost& token_part(std::int64_t chunk_tokens, std::int64_t decode_tokens, const models::Batch& batch);
  // The operators behind token_part(), adapter_part(), add_logits(), add_states() and add_execution(), in this order.
  [[nodiscard]] std::vector<models::Operator> operators(const models::Batch& batch, std::int64_t chunk_tokens,
                                                        std::int64_t decode_tokens) const;
  // What layers with a recurrent state do to it; nothing for models without any.
  void add_states(PartCost& part, const models::Batch& batch);
  const PartCost& logit_part(std::int64_t rows);
  // What the head computes of the batch, and what the engine's execution adds to the model's own work.
  void add_logits(PartCost& part, const models::Batch& batch);
  void add_execution(PartCost& part, const models::Batch& batch);
  // Whether it adds anything: then no step follows from the number of its decodes, even without attention.
  [[nodiscard]] bool adds_execution() const { return execution_.adds_work(); }
  // What `adapters` distinct adapters (more than 0) add to `tokens` tokens. Throws std::invalid_argument where the
  // settings know no adapter.
  const PartCost& adapter_part(std::int64_t tokens, std::int64_t adapters);

 private:
  using Table = std::vector<std::unique_ptr<const PartCost>>;     // by count: most are never asked for
  using PairTable = std::unordered_map<std::uint64_t, PartCost>;  // by two counts

  using RankKey = std::array<std::int64_t, 7>;
  struct RankHash {
    std::size_t operator()(const RankKey& key) const;
  };
  using RankTable = std::unordered_map<RankKey, PartCost, RankHash>;
  const PartCost& ranked_part(std::int64_t chunk_tokens, std::int64_t decode_tokens, const models::Batch& batch);
  const PartCost& thinned_part(std::int64_t chunk_tokens, std::int64_t decode_tokens, const models::Batch& batch);

  models::ModelSpec model_;
  models::ParallelPlan plan_;
  models::ExpertCoverage coverage_;
  models::Adapter adapter_;
  models::Execution execution_;
  Price price_;
  bool phase_matters_;  // expert coverage and latent attention tell prompt tokens from decodes
  bool texts_matter_;   // experts touched follow from which tokens are of one prompt
  std::vector<models::PassingTokens> thinnings_;
  bool ends_matter_;  // some layers compute the last tokens of prompts only
  bool has_states_;
  Table tokens_, logits_;
  PairTable phased_tokens_;                                        // by chunk tokens and decode tokens
  std::map<std::int64_t, PairTable> ended_tokens_;                 // by prompt ends, then those
  std::map<std::vector<std::int64_t>, PairTable> thinned_tokens_;  // by tokens of each thinning, then those
  RankTable ranked_;           // of data-parallel ranks that do not all compute alike, and of several prompts' experts
  PairTable adapted_;          // by tokens and adapters
  PairTable scans_, updates_;  // of states: by chunks or decodes, then their tokens
};

}  // namespace llmscape::hardware
