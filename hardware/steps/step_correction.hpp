// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/steps/composition.hpp"

namespace llmscape::hardware {

// One measured step beside its price.
struct CorrectedStep {
  StepPosition at;
  double log_ratio = 0;  // log(measured / priced)
  double weight = 1;     // among its neighbours, above 0
};

// The weight of one step that stands for `count` alike: one alone may have been disturbed, the median of many was not.
constexpr double step_weight(std::int64_t count) { return static_cast<double>(count) / static_cast<double>(count + 1); }

// How wrong prices of steps are near steps that were measured. Within `reach` doublings of a measured step the mean of
// the logarithms of measured / priced counts, weighted by step_weight() and exp(-d^2 / 2 smoothing^2) at distance d;
// beyond twice `reach` nothing does; in between, the logarithm fades in a straight line.
class StepCorrection {
 public:
  // At least one step; both widths in doublings, above 0.
  StepCorrection(std::vector<CorrectedStep> steps, double smoothing, double reach);

  struct Factor {
    double value = 1;  // on the price
    double trust = 0;  // 1: within reach of a measured step; 0: the price stands as it is
  };
  [[nodiscard]] Factor at(const StepPosition&) const;

 private:
  std::vector<CorrectedStep> steps_;
  double smoothing_, reach_;
};

}  // namespace llmscape::hardware
