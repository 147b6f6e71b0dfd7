// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/random.hpp"
#include "sim/engine/engine_model.hpp"

#include <array>
#include <memory>

namespace llmscape::engine {

// What the times of a device's kernels, and their joules, might have to be multiplied with to be true.
struct TimeFactors {
  TimeFactors();  // all 1
  std::array<std::array<double, hardware::kRegimes>, hardware::kOperatorFamilies> by_family;
  double extrapolated = 1;  // on top, for times outside the range of the parameters
  double joules = 1;        // on what steps draw above idle, which stays within the limit
  double drafting = 1;      // on what users' devices spend on drafts
  // Of one device, above idle: a step that would draw more for being faster lasts for its joules. 0: there is no limit.
  Watts headroom;
};

// Where in its spread each of them is, from 0 (as fast as measurements were) to 1: what devices whose fits are the same
// have in common, whatever model they run.
struct TimeRanks {
  std::array<std::array<double, hardware::kRegimes>, hardware::kOperatorFamilies> by_family;
  double extrapolated, joules, drafting;
};
TimeRanks draw_ranks(RandomStream stream);

// The factors at these ranks of what is known of the kernels of a model; for extrapolated times of the spread that is
// supposed of assumed figures, for joules of that of the tag behind them. The headroom is Device::headroom().
// `drafting` is 1.
TimeFactors factors_at(const TimeRanks& ranks, const hardware::Device& device, const models::ModelSpec& model,
                       const models::ParallelPlan& plan, const hardware::Device::Settings& settings);

// The factor on the joules of such a device of users.
double drafting_at(const TimeRanks& ranks, const hardware::Device& device);

// The same device, or as many of it as a replica has, with each step's times multiplied: by the factors of the regime
// that its tokens put it in. Prices that a power limit has slowed already are multiplied like others.
std::unique_ptr<EngineModel> with_factors(std::unique_ptr<EngineModel> model, const TimeFactors& factors,
                                          int devices = 1);

}  // namespace llmscape::engine
