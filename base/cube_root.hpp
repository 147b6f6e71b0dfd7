// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace llmscape {
namespace cube_roots {

constexpr std::size_t kCells = 32;  // of mantissas from 1 to 2

// By Newton's method: for what is worked out when the program is compiled.
constexpr double slow_root(double value) {
  double root = value;
  for (int i = 0; i < 40; ++i) root -= (root * root * root - value) / (3 * root * root);
  return root;
}

struct Cell {
  double inverse, root;  // of its middle
};
constexpr std::array<Cell, kCells> kTable = [] {
  std::array<Cell, kCells> table{};
  for (std::size_t i = 0; i < kCells; ++i) {
    const double middle = 1 + (static_cast<double>(i) + 0.5) / kCells;
    table[i] = {1 / middle, slow_root(middle)};
  }
  return table;
}();
constexpr std::array<double, 3> kOfPowers = {1, slow_root(2), slow_root(4)};

}  // namespace cube_roots

// The cube root of a finite number that is 0 or at least the least normal one, within three units of the last place:
// the series about the middle of one of 32 cells of mantissas, good to 3e-7, and one step of Halley's, whose error is
// the cube of that. The same bits with every C library.
inline double cube_root(double value) {
  if (value == 0) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t exponent = bits >> 52U;  // 1023, which is 3 x 341, for numbers from 1 to 2
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);
  const cube_roots::Cell& cell = cube_roots::kTable[bits >> 47U & (cube_roots::kCells - 1)];
  const double off = m * cell.inverse - 1;
  const double guess = cell.root * (1 + off * (1.0 / 3 - off * (1.0 / 9)));
  const double cube = guess * guess * guess;
  const double root = guess * (cube + 2 * m) / (2 * cube + m) * cube_roots::kOfPowers[exponent % 3];
  return root * std::bit_cast<double>((exponent / 3 + 1023 - 341) << 52U);
}

}  // namespace llmscape
