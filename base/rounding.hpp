// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

namespace llmscape {

// As a share of a limit: what meets it exactly is off by less, either way, as a sum of the same terms in another order
// and a difference of instants are. All that is held against a limit is held against it by these. Whole numbers have no
// rounding.
inline constexpr double kLimitRounding = 1e-9;

inline bool is_exact(double value) { return std::abs(value) < 0x1p53 && value == std::trunc(value); }
inline bool at_most(double value, double limit) {
  return value <= limit || (value <= limit + kLimitRounding * std::abs(limit) && !(is_exact(value) && is_exact(limit)));
}
inline bool at_least(double value, double limit) {
  return value >= limit || (value >= limit - kLimitRounding * std::abs(limit) && !(is_exact(value) && is_exact(limit)));
}

}  // namespace llmscape
