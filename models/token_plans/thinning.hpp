// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "models/token_plan.hpp"

namespace llmscape::models {

// Prompts that thin out (FastKV, arXiv 2502.01068: token-selective propagation; PyramidInfer): behind some layers only
// a part of a prompt's tokens goes on, chosen by their scores when all of the prompt has passed these. A later layer
// computes and keeps what reaches it; decodes pass all layers. Prompts have to be computed whole.
struct Thinning : TokenPlan {
  struct Stage {
    std::int64_t after = 0;  // layers, counted from the first one
    std::optional<double> share;
    std::optional<std::int64_t> most;
  };
  std::vector<Stage> stages;
  std::optional<double> keep;       // share of a prompt's entries that stay in each layer; absent: all that it has
  std::int64_t scored_queries = 0;  // last tokens whose scores choose

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override;
  void apply(ModelSpec& model) const override;

 private:
  // Of layers behind the first `stages_passed` stages.
  [[nodiscard]] TokenChange change(std::size_t stages_passed) const;
};
const Fields<Thinning>& thinning_fields();

}  // namespace llmscape::models
