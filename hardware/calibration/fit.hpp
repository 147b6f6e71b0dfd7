// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// A positive parameter to be fitted: kept in (low, high), and pulled towards a prior that is log-normal with this
// median and standard deviation of the logarithm.
struct FreeParameter {
  std::string name;
  double low = 0, high = 0;
  double median = 0, log_sd = 0;
};

// Rows to be explained: `predict` writes a positive prediction for each measured value, given the parameters in order.
struct FitProblem {
  std::vector<FreeParameter> parameters;
  std::vector<double> measured;  // positive
  std::function<void(std::span<const double> parameters, std::span<double> predicted)> predict;
};

struct FittedParameter {
  std::string name;
  double value = 0;
  double standard_error = 0;  // of the logarithm, from the rows alone, without the prior
  bool at_bound = false;      // within 1 % of an end of its range
  // Otherwise the rows say nothing about it, and the value is the prior's.
  [[nodiscard]] bool identified() const { return standard_error <= 0.5 && !at_bound; }

  template <class Message>
  void cross(Message& m) {
    m(name, value, standard_error, at_bound);
  }
};

struct FitOutcome {
  std::vector<FittedParameter> parameters;
  double loss = 0;  // of rows and priors together
};

// Least squares on r = log(predicted / measured) under the loss 2 (sqrt(1 + (r / 0.1)^2) - 1), which grows like |r| for
// outliers. Parameters move in the log, kept in bounds by a sigmoid; priors are rows 0.07 (log value - log median) /
// log_sd. The best of `starts` Levenberg-Marquardt runs: the first begins at the prior medians, the others at draws
// from the priors (always the same ones).
FitOutcome fit_in_log(const FitProblem& problem, int starts = 8);

}  // namespace llmscape::hardware
