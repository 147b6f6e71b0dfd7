// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "models/token_plan.hpp"

namespace llmscape::models {

// A budget of KV entries in each layer that attends to everything; sliding windows of a model's own stay as they are.
// What stays of a prompt is chosen by the scores of its last queries or of other kinds, which is outside the simulator:
// it counts how many entries stay, when the others go, and what choosing costs.
struct KvBudgetPlan : TokenPlan {
  // When what does not stay is dropped. position: nothing is chosen, the first `sinks` tokens and the last `window`
  // ones stay at any time, and prompts attend to nothing else (StreamingLLM).
  enum class Select : std::uint8_t { prompt_end, each_chunk, position };
  // What follows a prompt: its answer's entries are added, or replace the oldest ones of a buffer of fixed size.
  enum class Then : std::uint8_t { growing, ring };

  std::optional<std::int64_t> keep;  // entries of a prompt that stay, mean over the layers
  std::optional<double> share;       // the same as a share of the prompt
  std::int64_t sinks = 0, window = 0;
  Select select = Select::prompt_end;
  Then then = Then::growing;
  std::int64_t scored_queries = 0;
  std::vector<double> by_layer{};
  bool frees = true;

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override;
  void apply(ModelSpec& model) const override;

 private:
  [[nodiscard]] std::int64_t positions() const { return sinks + window; }
  // Of a layer whose budget is `weight` times the mean.
  [[nodiscard]] TokenChange change(double weight) const;
};
const Fields<KvBudgetPlan>& kv_budget_fields();

}  // namespace llmscape::models
