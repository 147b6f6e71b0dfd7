// SPDX-License-Identifier: Apache-2.0
#include "hardware/profile/length_profile.hpp"

#include <algorithm>

namespace llmscape::hardware {

double LengthProfile::at(double tokens) const {
  auto right = std::ranges::lower_bound(points_, tokens, {}, &Point::tokens);
  if (right == points_.begin()) ++right;
  if (right == points_.end()) --right;
  const Point &a = *(right - 1), &b = *right;
  const double value = a.value + (b.value - a.value) * (tokens - a.tokens) / (b.tokens - a.tokens);
  return tokens < shortest() ? std::max(value, a.value * tokens / a.tokens) : value;
}

}  // namespace llmscape::hardware
