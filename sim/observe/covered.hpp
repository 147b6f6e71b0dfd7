// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "sim/observe/observed.hpp"

namespace llmscape::observe {

// The samples of one engine or device, and of what time they tell.
class Covered {
 public:
  // `spacing` where the samples have none of their own; `quiet` as Observed::quiet_after.
  Covered(const std::vector<Course::Sample>& samples, double spacing, std::optional<double> quiet);
  [[nodiscard]] const std::vector<Course::Sample>& samples() const { return *samples_; }
  [[nodiscard]] double spacing() const { return spacing_; }
  // Of the sample nearest in time; nothing where that is too far away.
  [[nodiscard]] std::optional<double> near(double at) const;
  // The mean over (from, to] of a quantity that is told as the mean since the sample before, or of one usual spacing
  // where that is too long ago. What no sample tells of is 0 of a silent engine, else left out.
  [[nodiscard]] std::optional<double> mean(double from, double to) const;

 private:
  const std::vector<Course::Sample>* samples_;
  double spacing_, most_;  // the longest time between two samples in which something is known
  bool rests_;
};

}  // namespace llmscape::observe
