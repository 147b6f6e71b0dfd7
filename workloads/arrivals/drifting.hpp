// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/generator.hpp"

namespace llmscape::workloads {

// A level that the rate is multiplied with: drawn from a gamma law of mean 1, kept for an exponential time, then drawn
// anew. Its covariance with itself a time t later is cv^2 exp(-t / time).
struct Drift {
  double cv = 1;  // standard deviation / mean of the levels, above 0
  Seconds time;   // mean time that a level is kept, above 0
};

// A Poisson process whose rate is `rate` times the product of all levels (a doubly stochastic process). Without drifts
// it is poisson.
struct DriftingArrivals : Arrivals {
  PerSecond rate;  // programs per second in the long run
  std::vector<Drift> drifts;
  [[nodiscard]] std::unique_ptr<ArrivalClock> clock(RandomStream stream) const override;
  [[nodiscard]] std::optional<PerSecond> mean_rate() const override { return rate; }
};

// Variance over mean of the starts in windows of this length (above 0), in the long run. With the variance
// rate w + rate^2 sum_S v_S 2 t_S^2 (w / t_S - 1 + exp(-w / t_S)) of the starts in a window w, where S are the sets of
// drifts that are not empty, v_S = product of their cv^2 and 1 / t_S = sum of their 1 / time (Cox and Isham, Point
// Processes, 1980, section 3.3).
double fano(const DriftingArrivals& arrivals, Seconds window);

// 2 t^2 (w / t - 1 + exp(-w / t)) / w: the part of the formula above that one exponential has, per unit of v and rate.
double fano_of_drift(double time, double window);

}  // namespace llmscape::workloads
