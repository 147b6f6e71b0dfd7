// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "models/model.hpp"
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Layered prefill (arXiv 2510.08055; scale-snu/layered-prefill): the layers are cut into groups, and in each step all
// groups compute the decodes while one of them also computes the prompts of a cohort, whole. The next step takes the
// next group, so a layer's experts are loaded once for the prompts and not once for each chunk.
//
// Requests that wait become a cohort when none is under way. Their blocks are taken then, whole prompts at a time;
// where blocks lack, the sequence that began to decode last gives way, and a cohort never does. Prompts beyond
// `max_cohort_tokens` are cut, and each part walks all the groups.
struct Layered : BatcherPolicy {
  enum class Grouping {
    doubling,     // the authors' code: 1, 2, 4, ... groups, the first number with tokens / groups <= tokens_per_group
    proportional  // the paper: ceil(tokens / tokens_per_group)
  };
  std::int64_t max_num_seqs = 256;
  std::int64_t max_cohort_tokens = 8192;
  std::int64_t tokens_per_group = 512;
  std::int64_t max_groups = 16;
  Grouping grouping = Grouping::doubling;
  bool async_scheduling = true;

  // Groups of layers for a cohort of so many tokens.
  [[nodiscard]] std::int64_t groups(std::int64_t tokens) const;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] bool cuts_prompts() const override { return true; }
  [[nodiscard]] std::int64_t max_sequences() const override { return max_num_seqs; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_cohort_tokens + max_num_seqs; }
  [[nodiscard]] int depth() const override { return async_scheduling ? 2 : 1; }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec& model) const override;
};
const Fields<Layered>& layered_fields();

}  // namespace llmscape::serving
