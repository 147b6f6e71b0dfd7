// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_cache.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace llmscape;
using namespace llmscape::serving;

TEST_CASE("a prompt that is cached whole still computes its last block") {
  KvCache kv(100, 16, true);
  Lease lease;
  const Prompt prompt = {{1, 64}};
  kv.take(lease, 4);
  kv.publish(lease, prompt, 64);
  kv.release(lease);
  CHECK(kv.match(prompt, 64).blocks == 3);  // floor(63 / 16)
  CHECK(kv.match({{1, 65}}, 65).blocks == 4);
}

TEST_CASE("blocks are free, cached, shared or private, and add up (INV-4)") {
  KvCache kv(10, 16, true);
  Lease a;
  kv.take(a, 4);
  kv.publish(a, {{1, 64}}, 64);
  CHECK(kv.used() == 4);
  Lease b;
  kv.share(b, {{1, 64}, {2, 16}}, 4);
  kv.take(b, 1);
  CHECK(kv.used() == 5);  // four shared, one of b's own
  kv.release(a);
  CHECK(kv.used() == 5);
  kv.release(b);
  CHECK(kv.used() == 0);
  CHECK(kv.available() == 10);
  CHECK(kv.match({{1, 80}}, 80).blocks == 4);  // still cached
  Lease c;
  kv.take(c, 9);  // six are free: three cached blocks go, the tail first
  CHECK(kv.evicted() == 3);
  CHECK(kv.match({{1, 80}}, 80).blocks == 1);
  CHECK_THROWS_AS(kv.take(c, 2), std::logic_error);
}

TEST_CASE("without prefix caching nothing is found again") {
  KvCache kv(10, 16, false);
  Lease lease;
  kv.take(lease, 4);
  kv.publish(lease, {{1, 64}}, 64);
  kv.release(lease);
  CHECK(kv.match({{1, 64}}, 64).blocks == 0);
  CHECK(kv.available() == 10);
}
