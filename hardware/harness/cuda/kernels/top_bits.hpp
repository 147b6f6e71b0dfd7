// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"

namespace llmscape::hardware::harness::cuda {

// Finds the k-th largest of many bf16 by radix: count the keys by their upper byte, narrow, count those that share it
// by their lower byte, narrow again.
inline constexpr int kDigits = 256;

// Orders like the numbers do.
constexpr unsigned ordered_key(Bf16 x) { return (x.bits & 0x8000U) != 0 ? 0xffffU & ~x.bits : x.bits | 0x8000U; }

struct Threshold {
  unsigned key;  // of the k-th largest, as far as it is known
  int rank;      // which of the largest it is among those that agree with `key` so far
};

// Given how many keys have each digit at `shift`, among those that agree with the threshold above it.
constexpr Threshold narrow(Threshold so_far, const int* count, int shift) {
  int digit = kDigits - 1;
  while (digit > 0 && count[digit] < so_far.rank) so_far.rank -= count[digit--];
  so_far.key |= static_cast<unsigned>(digit) << shift;
  return so_far;
}

}  // namespace llmscape::hardware::harness::cuda
