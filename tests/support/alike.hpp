// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

namespace llmscape::test {

// Where two texts differ by more than rounding: as the first line that does, or nothing. Numbers may differ by one in
// their last printed place, `absolute`, or by half a per cent: another processor's exponentials move the last digits of
// a fit.
inline std::string difference_beyond_rounding(const std::string& expected, const std::string& got, double absolute) {
  constexpr double kRelative = 0.005;
  const auto line_around = [](const std::string& text, std::size_t at) {
    const std::size_t from = text.rfind('\n', at == 0 ? 0 : at - 1);
    const std::size_t first = from == std::string::npos ? 0 : from + 1;
    return text.substr(first, text.find('\n', at) - first);
  };
  std::size_t a = 0, b = 0;
  while (a < expected.size() && b < got.size()) {
    const bool number = std::isdigit(static_cast<unsigned char>(expected[a])) != 0 &&
                        std::isdigit(static_cast<unsigned char>(got[b])) != 0;
    bool same = expected[a] == got[b];
    std::size_t step_a = 1, step_b = 1;
    if (number) {
      char *end_a = nullptr, *end_b = nullptr;
      const double was = std::strtod(expected.c_str() + a, &end_a), is = std::strtod(got.c_str() + b, &end_b);
      step_a = static_cast<std::size_t>(end_a - (expected.c_str() + a));
      step_b = static_cast<std::size_t>(end_b - (got.c_str() + b));
      same = std::abs(was - is) <= std::max(1.01 * absolute, kRelative * std::abs(was));
    }
    if (!same) return "was: " + line_around(expected, a) + "\nis:  " + line_around(got, b);
    a += step_a;
    b += step_b;
  }
  return a == expected.size() && b == got.size() ? "" : "one of them is longer";
}

}  // namespace llmscape::test
