// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/replica/kv_memory.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;

namespace {

// 100 blocks of 1 kB; 1 MB/s back, 2 MB/s out, 1 ms for each transfer.
const KvSwapConfig kHost{100, Bytes(1e3), BytesPerSecond(1e6), BytesPerSecond(2e6), Seconds(1e-3)};

// (tokens / 1000)^2 seconds.
Seconds quadratic(std::int64_t cached, std::int64_t tokens) {
  const auto square = [](std::int64_t n) { return 1e-6 * static_cast<double>(n * n); };
  return Seconds(square(tokens) - square(cached));
}

}  // namespace

TEST_CASE("computing again is priced at 256, 512, 1024 ... tokens and linear in between") {
  int asked = 0;
  KvMemoryConfig config;
  config.prefill_time = [&](std::int64_t cached, std::int64_t tokens) {
    ++asked;
    return quadratic(cached, tokens);
  };
  KvMemory kv(config);
  CHECK(kv.recompute_time(1024).si() == approx(1.048576));
  CHECK(kv.recompute_time(384).si() == approx((0.065536 + 0.262144) / 2));
  CHECK(kv.recompute_time(128).si() == approx(0.065536 / 2));
  CHECK(asked == 3);  // of 256, 512 and 1024
}

TEST_CASE("copies queue behind each other, each way for itself, and take memory until they are back") {
  KvSwap swap(kHost);
  CHECK(swap.write(40, Seconds(1)).si() == approx(1 + 0.020 + 0.001));
  CHECK(swap.write(40, Seconds(1)).si() == approx(1 + 0.040 + 0.001));
  CHECK(swap.read(40, Seconds(1)).si() == approx(1 + 0.040 + 0.001));
  CHECK(swap.used() == 40);
  CHECK(swap.peak() == 80);
  CHECK(swap.fits(60));
  CHECK_FALSE(swap.fits(61));
  CHECK(swap.next_arrival().si() == approx(1.021));
  swap.settle(Seconds(1.03));
  CHECK(swap.next_arrival().si() == approx(1.041));
  swap.drop(40);
  CHECK(swap.used() == 0);
}

TEST_CASE("swapping pays where both copies, and those queued before, take less than computing again") {
  KvSwap swap(kHost);
  // 100 blocks: 0.051 s out and 0.101 s back.
  CHECK(swap.pays(Seconds(0.153), 100, Seconds(0)));
  CHECK_FALSE(swap.pays(Seconds(0.151), 100, Seconds(0)));
  swap.write(100, Seconds(0));
  swap.write(100, Seconds(0));
  swap.write(100, Seconds(0));
  CHECK_FALSE(swap.pays(Seconds(0.262), 100, Seconds(0)));  // 0.15 s later
  CHECK(swap.pays(Seconds(0.262), 100, Seconds(0.15)));
}
