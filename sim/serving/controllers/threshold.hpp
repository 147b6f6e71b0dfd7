// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Picks the prompt length again from which on calls go to another pool (the short-term scheduler of PrfaaS, arXiv
// 2604.15039). At every `interval` it compares the calls per replica of the two pools: the threshold is `usual` times
// `step` to the power of what the pool for long prompts has more of. A call counts until its KV entries have moved, so
// that a link which is too slow shows as a queue before it. Nothing is remembered: a threshold that rose step by step
// would go on rising while the queue that it meets is worked off.
struct Threshold : ControllerPolicy {
  std::string longer, shorter;  // the pools
  std::int64_t usual = 0;       // tokens, where the pools have as many calls per replica
  double step = 1.25;
  std::int64_t min = 1, max = 0;  // tokens that it stays between
  Seconds interval;

  [[nodiscard]] std::vector<Problem> problems(const FleetPlan& plan) const override;
  [[nodiscard]] std::unique_ptr<Controller> make(const FleetPlan& plan) const override;
};
const Fields<Threshold>& threshold_fields();

}  // namespace llmscape::serving
