// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "sim/observe/observed.hpp"

namespace llmscape::observe {

// A moment as a log without years tells it (YearlessClock), in the year of another moment.
double in_year_of(double moment, double other);

// When the first of the requests came, on the clock of the engines.
struct LogStart {
  double at = 0;
  double earlier = 0;  // s that the engines had worked before: for a warm-up, or for others
  double within = 0;   // s to which `at` is known
};

// Where the client's and the engines' times are of a calendar, in the zone that fits. Else where the engines began to
// work; where they rested since, so that they may have begun with something else (a call at start-up), there where what
// they answered is nearest to what the requests tell of their tokens. Nothing where no engine worked.
std::optional<LogStart> log_start(const Observed& observed);

}  // namespace llmscape::observe
