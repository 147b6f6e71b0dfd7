// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/units.hpp"

namespace llmscape::report {

struct ScatterPoint {
  double x = 0, y = 0;
  std::size_t group = 0;
  bool stands_out = false;
};

struct ScatterAxis {
  std::string label;  // "ttft.p99"
  std::string unit;   // "s"; ticks have it where they can
};

struct Scatter {
  ScatterAxis x, y;
  std::vector<std::string> groups;
  std::vector<ScatterPoint> points;
};

// Points on a plane of characters, `width` columns wide (at least 40) and at most 24 lines high with axes and legend.
// Each of the first 26 groups has a letter, large for points that stand out and small for others; those of all other
// groups are '*' and '+'; a single group has dots. An axis that covers more than a factor of 30 is logarithmic, and
// says so. Empty without points.
std::string scatter(const Scatter& plot, bool colour, std::size_t width = kPageColumns);

}  // namespace llmscape::report
