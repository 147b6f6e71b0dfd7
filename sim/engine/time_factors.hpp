// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/random.hpp"
#include "sim/engine/engine_model.hpp"

#include <array>
#include <memory>

namespace llmscape::engine {

// What the times of a device's kernels might have to be multiplied with to be true.
struct TimeFactors {
  TimeFactors();  // all 1
  std::array<std::array<double, hardware::kRegimes>, hardware::kOperatorFamilies> by_family;
  double extrapolated = 1;  // on top, for times outside the range of the parameters
  // Of one device, above idle: a step that would draw more for being faster lasts for its joules. 0: there is no limit.
  Watts headroom;
};

// One factor for each family and regime, at random ranks of the device's spreads; for extrapolated times one of the
// spread that is supposed of assumed figures. The headroom is Device::headroom().
TimeFactors draw_factors(const hardware::Device& device, RandomStream stream);

// The same device, or as many of it as a replica has, with each step's times multiplied: by the factors of the regime
// that its tokens put it in. Prices that a power limit has slowed already are multiplied like others.
std::unique_ptr<EngineModel> with_factors(std::unique_ptr<EngineModel> model, const TimeFactors& factors,
                                          int devices = 1);

}  // namespace llmscape::engine
