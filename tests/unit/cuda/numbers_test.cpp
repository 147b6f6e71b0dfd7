// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/numbers.hpp"
#include "hardware/harness/cuda/kernels/top_bits.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

using namespace llmscape::hardware::harness::cuda;
using llmscape::testing::approx;

TEST_CASE("bf16 rounds to the nearest, ties to even") {
  CHECK(to_float(to_bf16(1.0F)) == 1.0F);
  CHECK(to_float(to_bf16(1.0F + 0x1p-8F)) == 1.0F);                    // half-way, even below
  CHECK(to_float(to_bf16(1.0F + 0x3p-8F)) == 1.0F + 0x1p-6F);          // half-way, even above
  CHECK(to_float(to_bf16(-3.0F - 0x1p-7F - 0x1p-20F)) == -3.015625F);  // a little above half-way
  CHECK(to_bf16(NAN).bits == 0x7fff);
}

TEST_CASE("fp8 E4M3 has the values of the OCP standard") {
  CHECK(to_float(Fp8{0x7e}) == kLargestFp8);
  CHECK(to_float(Fp8{0x38}) == 1.0F);
  CHECK(to_float(Fp8{0x08}) == 0x1p-6F);   // the smallest normal
  CHECK(to_float(Fp8{0x81}) == -0x1p-9F);  // the smallest of all
  CHECK(std::isnan(to_float(Fp8{0xff})));
}

TEST_CASE("Uniform numbers stay within 0 and 1, and their mean is a half") {
  constexpr int kCount = 100000;
  double sum = 0;
  float lowest = 1, highest = 0;
  for (int i = 0; i < kCount; ++i) {
    const float x = uniform(7, i);
    sum += x;
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  CHECK(lowest > 0);
  CHECK(highest < 1);
  CHECK(sum / kCount == approx(0.5).epsilon(0.01));  // three standard errors are 0.0027
}

TEST_CASE("Radix selection finds the k-th largest of many floats") {
  std::vector<float> numbers;
  for (int i = 0; i < 3000; ++i) numbers.push_back(20 * uniform(11, i) - 10);
  numbers[17] = numbers[18] = 0;
  auto sorted = numbers;
  std::sort(sorted.rbegin(), sorted.rend());
  for (const int rank : {1, 2, 50, 1500, 3000}) {
    Threshold threshold{0, rank};
    for (int shift = kKeyBits - kDigitBits; shift >= 0; shift -= kDigitBits) {
      std::array<int, kDigits> count{};
      for (const float x : numbers) {
        if (agrees(ordered_key(x), threshold, shift)) ++count[digit(ordered_key(x), shift)];
      }
      threshold = narrow(threshold, count.data(), shift);
    }
    CHECK(threshold.key == ordered_key(sorted[rank - 1]));
  }
}
