// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Starts replicas of a pool while there is much to do for those that serve or load, and drains them while there is
// little. Looks at every `interval`; a call that finds no replica at all has one started at once.
struct Autoscale : ControllerPolicy {
  enum class By {
    calls,  // outstanding and waiting calls per replica that serves or loads
    slo     // share of the calls that ended within `window` and missed `ttft`
  };
  std::optional<std::string> pool;
  std::int64_t min = 1;
  std::optional<std::int64_t> max, initial;
  By by = By::calls;
  double up_at = 0, down_at = 0;
  std::int64_t step = 1;
  Seconds interval;
  Seconds up_cooldown, down_cooldown;
  std::optional<Seconds> ttft, window;

  [[nodiscard]] std::vector<Problem> problems(const FleetPlan& plan) const override;
  [[nodiscard]] std::unique_ptr<Controller> make(const FleetPlan& plan) const override;
  [[nodiscard]] std::optional<std::size_t> scales(const FleetPlan& plan) const override {
    return plan.pool_named(pool);
  }
  [[nodiscard]] std::int64_t off_at_first(const FleetPlan& plan, std::size_t pool) const override;
};
const Fields<Autoscale>& autoscale_fields();

}  // namespace llmscape::serving
