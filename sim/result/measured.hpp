// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/parts.hpp"
#include "sim/result/result.hpp"

namespace llmscape::result {

// The part of the run that figures are taken from, and what of its requests fell into it.
struct Measured {
  std::string rule;
  Portion portion;
  metrics::WindowSums metrics::PartSums::* part;
  metrics::WindowSums sums;
  Seconds arrivals_from;  // what `sums.arrivals` is counted from
};

Measured whole_measured(const Parts& parts, const serving::Gateway& gateway, Seconds end);
// The window of that run, by the rule of this name; where it has none, the rest of the run from the warm-up on.
Measured window_measured(const Parts& parts, const serving::Gateway& gateway, const Measured& all,
                         std::string_view rule);

// What is said of a distribution. Nothing where it has no values.
std::optional<Percentiles> percentiles(const Moments& moments, const Values& values);
// The same without the values of 0: gaps between tokens without those of one step, which come at once.
std::optional<Percentiles> percentiles_above_zero(const Moments& moments, const Values& values);
inline std::optional<Percentiles> percentiles(const Distribution& d) { return percentiles(d.moments(), d.values()); }

}  // namespace llmscape::result
