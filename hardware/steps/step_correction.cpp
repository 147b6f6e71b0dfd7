// SPDX-License-Identifier: Apache-2.0
#include "hardware/steps/step_correction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace llmscape::hardware {
namespace {

// exp(-8): a step that is so much farther than the nearest one counts for nothing.
constexpr double kNothing = 8;

double squared(const StepPosition& a, const StepPosition& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return squares;
}

}  // namespace

StepCorrection::StepCorrection(std::vector<CorrectedStep> steps, double smoothing, double reach)
    : steps_(std::move(steps)), smoothing_(smoothing), reach_(reach) {
  if (steps_.empty() || smoothing <= 0 || reach <= 0) throw std::invalid_argument("a correction without steps");
}

StepCorrection::Factor StepCorrection::at(const StepPosition& at) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const CorrectedStep& step : steps_) nearest = std::min(nearest, squared(step.at, at));
  const double trust = std::clamp(2 - std::sqrt(nearest) / reach_, 0.0, 1.0);
  if (trust == 0) return {};
  double sum = 0, weights = 0;
  for (const CorrectedStep& step : steps_) {
    // Beside the nearest one, so that no sum of weights vanishes far from all.
    const double farther = (squared(step.at, at) - nearest) / (2 * smoothing_ * smoothing_);
    if (farther > kNothing) continue;
    const double weight = step.weight * std::exp(-farther);
    sum += weight * step.log_ratio;
    weights += weight;
  }
  return {std::exp(trust * sum / weights), trust};
}

}  // namespace llmscape::hardware
