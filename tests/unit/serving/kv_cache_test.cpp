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

TEST_CASE(
    "beside recurrent states a prefix is found where a part that was computed ended, in whole blocks (544, "
    "Qwen3-Next)") {
  KvCache kv(20, 544, true, 3);
  Lease a;
  kv.take(a, 4);
  kv.publish(a, {{1, 1100}}, 1100);  // a chunk ends in the third block ...
  kv.publish(a, {{1, 1700}}, 1700);  // ... and the prompt in the fourth
  CHECK(kv.match({{1, 5000}}, 5000).blocks == 3);
  CHECK(kv.match({{1, 1632}, {2, 900}}, 2532).blocks == 3);
  CHECK(kv.match({{1, 1631}, {2, 900}}, 2531).blocks == 2);  // 1,088 tokens
  CHECK(kv.match({{1, 1087}, {2, 900}}, 1987).blocks == 0);  // a block is there, and no state at its end
  CHECK(kv.available() == 16);                               // states give way
  CHECK(kv.free() == 16 - 2 * 3);
  Lease b;
  kv.share(b, {{1, 1088}, {2, 900}}, 2);  // the states at 1,088 are those used last
  kv.take(b, 12);
  CHECK(kv.match({{1, 1631}, {2, 900}}, 2531).blocks == 2);
  CHECK(kv.match({{1, 5000}}, 5000).blocks == 2);  // those at 1,632 had to go
  kv.take(b, 4);
  CHECK(kv.match({{1, 5000}}, 5000).blocks == 0);
  CHECK(kv.available() == 0);
  kv.release(a);
  kv.release(b);
  CHECK(kv.used() == 0);
  kv.forget();
  CHECK(kv.free() == 20);
}

TEST_CASE("states go with the block at whose end they stand") {
  KvCache kv(8, 16, true, 2);
  Lease a;
  kv.take(a, 3);
  kv.publish(a, {{1, 32}}, 32);
  kv.publish(a, {{1, 48}}, 48);
  kv.release(a);
  CHECK(kv.free() == 8 - 3 - 2 * 2);
  Lease b;
  kv.take(b, 3);  // one is free, the last block and its states are three
  CHECK(kv.evicted() == 1);
  CHECK(kv.match({{1, 100}}, 100).blocks == 2);
  CHECK(kv.free() == 1);
}

TEST_CASE("an eviction costs its extents and not its blocks, beside states too") {
  KvCache kv(2000, 1, true, 10);
  for (ContentId text = 1; text <= 3; ++text) {
    Lease lease;
    kv.take(lease, 600);
    kv.publish(lease, {{text, 600}}, 600);
    kv.release(lease);
  }
  CHECK(kv.free() == 2000 - 3 * 610);
  Lease lease;
  kv.take(lease,
          1900);  // 170 are free, the first two prompts are 610 each, and 510 come from the third: 500 and states
  CHECK(kv.evicted() == 600 + 600 + 500);
  CHECK(kv.eviction_work() == 3 * 2);  // of each prompt its last block, and the others
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
