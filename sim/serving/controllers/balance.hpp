// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Looks at two pools at every `interval`. Where one has more calls per replica than it can do with, and the other one
// has not, a replica of the other changes over (the long-term scheduler of PrfaaS, arXiv 2604.15039, converts prefill
// and decode nodes so).
struct Balance : ControllerPolicy {
  struct Side {
    std::string pool;
    double above = 0;      // calls, outstanding and waiting, per replica that serves or loads
    std::int64_t min = 1;  // replicas that stay
  };
  std::vector<Side> between;
  Seconds interval, takes, cooldown;

  [[nodiscard]] std::vector<Problem> problems(const FleetPlan& plan) const override;
  [[nodiscard]] std::unique_ptr<Controller> make(const FleetPlan& plan) const override;
  [[nodiscard]] bool converts() const override { return true; }
};
const Fields<Balance>& balance_fields();

}  // namespace llmscape::serving
