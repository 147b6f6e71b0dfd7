// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/router.hpp"

namespace llmscape::serving {

struct RoundRobin : RouterPolicy {
  [[nodiscard]] std::unique_ptr<Router> make() const override;
};
const Fields<RoundRobin>& round_robin_fields();

}  // namespace llmscape::serving
