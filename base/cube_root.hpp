// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace llmscape {

// The cube root of a finite number that is 0 or at least the least normal one, within three units of the last place: by
// a polynomial of the mantissa and one step of Halley's, as in the GNU C library up to 2.40. Later ones round
// otherwise; this has the same bits with all of them.
inline double cube_root(double value) {
  static constexpr std::array<double, 5> kRoots = {0x1.428a2f98d728ap-1, 0x1.965fea53d6e3cp-1, 1, 0x1.428a2f98d728bp+0,
                                                   0x1.965fea53d6e3dp+0};  // of 1/4, 1/2, 1, 2, 4
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> 52U) - 1022;
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3fe0000000000000U);  // from 0.5 to 1
  const double guess =
      0.354895765043919860 +
      (1.50819193781584896 -
       (2.11499494167371287 -
        (2.44693122563534430 - (1.83469277483613086 - (0.784932344976639262 - 0.145263899385486367 * m) * m) * m) * m) *
           m) *
          m;
  const double cube = guess * guess * guess;
  const double root = guess * (cube + 2 * m) / (2 * cube + m) * kRoots[static_cast<std::size_t>(2 + exponent % 3)];
  return root * std::bit_cast<double>(static_cast<std::uint64_t>(exponent / 3 + 1023) << 52U);
}

}  // namespace llmscape
