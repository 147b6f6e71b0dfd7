// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace llmscape::hardware::harness::cuda {

// Finds the k-th largest of many floats by radix: counts their keys by the upper byte, narrows, counts those that share
// it by the next byte, and so on.
inline constexpr int kKeyBits = 32, kDigitBits = 8, kDigits = 1 << kDigitBits;

// Orders like the numbers do.
constexpr std::uint32_t ordered_key(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
constexpr std::uint32_t digit(std::uint32_t key, int shift) { return key >> shift & (kDigits - 1); }

struct Threshold {
  std::uint32_t key;  // of the k-th largest, as far as it is known
  int rank;           // which of the largest it is among those that agree with `key` so far
};

// Whether a key agrees with what is known above the digit at `shift`.
constexpr bool agrees(std::uint32_t key, const Threshold& known, int shift) {
  return shift + kDigitBits == kKeyBits || (key ^ known.key) >> (shift + kDigitBits) == 0;
}

// Given how many agreeing keys have each digit at `shift`.
constexpr Threshold narrow(Threshold known, const int* count, int shift) {
  int at = kDigits - 1;
  while (at > 0 && count[at] < known.rank) known.rank -= count[at--];
  known.key |= static_cast<std::uint32_t>(at) << shift;
  return known;
}

}  // namespace llmscape::hardware::harness::cuda
