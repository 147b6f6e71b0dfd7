// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "sim/live/engine.hpp"

namespace llmscape::live {

// Requests at random: arrivals of a Poisson process from 0 on, and lengths anywhere from 1 to twice their mean less
// one, so that steps of every composition occur.
struct Traffic {
  double rate = 0;  // per second; infinity: all at 0
  std::int64_t mean_prompt = 0, mean_output = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] std::int64_t longest() const { return 2 * mean_prompt - 1 + 2 * mean_output - 1; }
  // At most `count`, the last before `until_s`.
  [[nodiscard]] std::vector<LiveRequest> requests(std::int64_t count, double until_s) const;
};

}  // namespace llmscape::live
