// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

namespace llmscape::testing {

// What differs from `value` by less than a share of the larger of both: 1.2e-5, or the .epsilon() that is asked for.
// doctest's own class adds that share of 1 (its scale), whatever the size of `value`: seconds, joules or shares that
// are small then equal all others that are, zero too. Here nothing but zero equals zero; where rounding leaves more,
// the test compares with the error that it tolerates.
template <class Number>
  requires std::is_constructible_v<double, const Number&>
doctest::Approx approx(const Number& value) {
  return doctest::Approx(static_cast<double>(value)).scale(std::numeric_limits<double>::min());
}

}  // namespace llmscape::testing
