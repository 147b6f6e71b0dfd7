// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hardware/steps/steps_device.hpp"

namespace llmscape::hardware {

struct HeldOutStep {
  double measured = 0, priced = 0, tabled = 0;  // s: by the device alone, and corrected by the others
  double trust = 0;                             // 1: within reach of the others (StepCorrection)
};
// Measured steps as a device keeps them, and how well a table made of four fifths of them predicts the others. Steps
// of one composition are held out together; steps like them are not, so that the errors are those of interpolation.
struct StepFit {
  std::vector<MeasuredStep> steps;  // at most kMostSteps, each for those of its cell; of all that were measured
  double smoothing = 0;             // doublings: what served best on steps that were not held out
  double ratio = 1;                 // measured / priced by the device alone, median of all that were measured
  std::vector<HeldOutStep> held_out;
};

inline constexpr std::size_t kMostSteps = 256;
inline constexpr std::size_t kFewestSteps = 20;

// `priced` is the device that the table will correct, with the `laws` (models::kv_laws) of its model. Throws
// std::invalid_argument with fewer than kFewestSteps steps, or where no step was held out.
StepFit fit_steps(std::span<const MeasuredStep> measured, StepModel& priced, std::span<const std::int64_t> laws);

}  // namespace llmscape::hardware
