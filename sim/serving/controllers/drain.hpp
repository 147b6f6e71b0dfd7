// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Takes replicas of a group out for maintenance: they answer what they have first, those with the fewest calls go, and
// start again when it is over.
struct Drain : ControllerPolicy {
  Seconds at;
  std::optional<Seconds> lasts;
  std::string group;
  std::int64_t count = 1;

  [[nodiscard]] std::vector<Problem> problems(const FleetPlan& plan) const override;
  [[nodiscard]] std::unique_ptr<Controller> make(const FleetPlan& plan) const override;
};
const Fields<Drain>& drain_fields();

}  // namespace llmscape::serving
