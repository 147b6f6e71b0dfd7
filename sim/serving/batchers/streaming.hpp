// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/serving/batchers/token_budget.hpp"

namespace llmscape::serving {

// The two-phase scheduler of Stream2LLM (arXiv 2604.16395), for streaming prompts: (1) requests are ordered
// and it is tested, without touching anything, which of them fit if those of the lowest priority give way; (2) they do,
// and the others get their blocks.
struct Streaming : TokenBudget {
  std::string order = "default";
  Preempted victims = Preempted::recompute;
  bool async_scheduling = false;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] bool cuts_prompts() const override { return true; }
  [[nodiscard]] int depth() const override { return async_scheduling ? 2 : 1; }
  [[nodiscard]] bool streams_prompts() const override { return true; }
  [[nodiscard]] bool swaps() const override { return victims != Preempted::recompute; }
};
const Fields<Streaming>& streaming_fields();

}  // namespace llmscape::serving
