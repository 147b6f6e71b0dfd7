// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace llmscape {
namespace quick_logs {

constexpr double kLn2 = 0.693147180559945309417;
constexpr std::size_t kCells = 128;          // of mantissas from 1 to 2
constexpr int kPowers = 64;                  // to a doubling
constexpr double kMagic = 6755399441055744;  // 1.5 x 2^52: what is added to it is rounded to a whole number

// ln(value) by the series of the inverse hyperbolic tangent, and e^value by its own: for what is worked out when the
// program is compiled.
constexpr double slow_log(double value) {
  const double t = (value - 1) / (value + 1);
  double sum = 0, power = t;
  for (int n = 1; n < 60; n += 2, power *= t * t) sum += power / n;
  return 2 * sum;
}
constexpr double slow_exp(double value) {
  double sum = 1, term = 1;
  for (int n = 1; n < 30; ++n) sum += term *= value / n;
  return sum;
}

struct Cell {
  double inverse, log2;  // of its middle
};
constexpr std::array<Cell, kCells> kTable = [] {
  std::array<Cell, kCells> table{};
  for (std::size_t i = 0; i < kCells; ++i) {
    const double inverse = 1 / (1 + (static_cast<double>(i) + 0.5) / kCells);
    table[i] = {inverse, -slow_log(inverse) / kLn2};
  }
  return table;
}();
constexpr std::array<double, 2 * kPowers + 1> kExps = [] {
  std::array<double, 2 * kPowers + 1> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = slow_exp((static_cast<double>(i) - kPowers) * (kLn2 / kPowers));
  return table;
}();

}  // namespace quick_logs

// The base-2 logarithm of a finite positive number that is not denormal, within 1e-15 of itself or of 1: for prices and
// samples by the million, where the C library's takes three times as long and has other bits in other versions.
inline double quick_log2(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
  const double m = std::bit_cast<double>((bits & 0x000fffffffffffffU) | 0x3ff0000000000000U);
  const quick_logs::Cell& cell = quick_logs::kTable[bits >> 45U & (quick_logs::kCells - 1)];
  const double off = m * cell.inverse - 1;  // at most 1/257
  const double square = off * off;          // the series in pairs: half as long a chain
  const double log =
      off - square * ((1.0 / 2 - off * (1.0 / 3)) + square * ((1.0 / 4 - off * (1.0 / 5)) + square * (1.0 / 6)));
  return static_cast<double>(exponent) + (cell.log2 + log * (1 / quick_logs::kLn2));
}

// e to a power from -ln 2 to ln 2, within 1e-15 of itself.
inline double quick_exp(double power) {
  const double rounded = power * (quick_logs::kPowers / quick_logs::kLn2) + quick_logs::kMagic;
  const double steps = rounded - quick_logs::kMagic;
  const double off = power - steps * (quick_logs::kLn2 / quick_logs::kPowers);  // at most 0.0055
  const auto step = static_cast<std::size_t>(static_cast<std::int64_t>(steps) + quick_logs::kPowers);
  const double square = off * off;
  const double rest = off + square * ((1.0 / 2 + off * (1.0 / 6)) + square * (1.0 / 24 + off * (1.0 / 120)));
  return quick_logs::kExps[step] * (1 + rest);
}

}  // namespace llmscape
