// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/streaming.hpp"

#include "models/token_plans/limits.hpp"

namespace llmscape::models {

KvBudgetPlan Streaming::budget() const {
  KvBudgetPlan plan;
  plan.select = KvBudgetPlan::Select::position;
  plan.sinks = sinks;
  plan.window = window;
  plan.frees = false;
  return plan;
}

const Fields<Streaming>& streaming_fields() {
  static const Fields<Streaming> fields = [] {
    Fields<Streaming> f("streaming", "StreamingLLM (arXiv 2309.17453): the first tokens and a window");
    f.add("sinks", &Streaming::sinks, "first tokens that all others attend to").between(0, kMostTokens);
    f.add("window", &Streaming::window, "last tokens that one attends to, itself included").between(1, kMostTokens);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
