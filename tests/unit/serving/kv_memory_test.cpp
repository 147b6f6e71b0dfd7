// SPDX-License-Identifier: Apache-2.0
// What the sequences of an engine hold of its KV memory, block by block.
#include <doctest/doctest.h>

#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/replica/kv_memory.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;

namespace {

constexpr int kBlockTokens = 16;
// 10 blocks of 1 kB, 1 MB/s each way.
const KvSwapConfig kSwap{10, Bytes(1e3), BytesPerSecond(1e6), BytesPerSecond(1e6), Seconds()};

KvMemoryConfig blocks(std::int64_t count) {
  KvMemoryConfig config;
  config.blocks = count;
  config.block_tokens = kBlockTokens;
  return config;
}

Request request_of(std::int64_t prompt, std::int64_t output, std::uint64_t id = 1) {
  Request request;
  request.id = id;
  request.prompt = {{id, prompt, 0}};
  request.prompt_tokens = prompt;
  request.output_tokens = output;
  request.output = 1000 + id;
  return request;
}

}  // namespace

TEST_CASE("a prompt takes the blocks of its chunks as they are computed, and gives all back") {
  KvMemory kv(blocks(10));
  Request request = request_of(40, 5);
  kv.begin(request, 0);
  CHECK(kv.blocks_for_chunk(request, 20) == 2);  // 20 of 16
  kv.extend(request, 20);
  CHECK(kv.pool.used() == 2);
  CHECK(kv.blocks_for_chunk(request, 12) == 0);  // 32 fill them
  kv.extend(request, 20);
  CHECK(request.sequence.computed == 40);
  CHECK(kv.pool.used() == 3);
  kv.release(request);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("where sequences do not grow, the whole length is held from the beginning and decodes take nothing") {
  KvMemoryConfig config = blocks(10);
  config.grows = false;
  KvMemory kv(config);
  DecodeSet decoding({0}, kBlockTokens);
  Request request = request_of(16, 33);
  kv.begin(request, 0);
  kv.reserve(request, 49);
  CHECK(kv.pool.used() == 4);
  kv.extend(request, 16);
  CHECK(kv.pool.used() == 4);
  decoding.join(request);
  CHECK(decoding.blocks_needed() == 1);  // token 17 begins a block
  CHECK(kv.blocks_for_decodes(decoding) == 0);
  kv.grow(decoding);
  CHECK(kv.pool.used() == 4);
}

TEST_CASE("decodes take blocks for all together, and one that leaves learns which are its own") {
  KvMemory kv(blocks(10));
  DecodeSet decoding({0}, kBlockTokens);
  Request request = request_of(32, 3);
  kv.begin(request, 0);
  kv.extend(request, 32);
  ++request.emitted;
  decoding.join(request);
  std::vector<Request*> finished;
  for (int step = 0; step < 2; ++step) {
    kv.grow(decoding);
    decoding.advance(finished);
  }
  REQUIRE(finished.size() == 1);
  CHECK(kv.pool.used() == 3);  // 32 tokens of the prompt fill two, the first decode began the third
  CHECK(request.sequence.lease.blocks() == 2);
  kv.settle(request);
  CHECK(request.sequence.lease.blocks() == 3);
  kv.release(request);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("a token plan that keeps part of a prompt frees the blocks of the rest at its end") {
  KvMemoryConfig config = blocks(10);
  config.budget = models::PoolBudget(models::KvBudget{.entries = 24});
  KvMemory kv(config);
  Request request = request_of(100, 5);
  kv.begin(request, 0);
  kv.extend(request, 100);
  CHECK(kv.pool.used() == 7);
  kv.end_prompt(request);
  CHECK(request.sequence.entries() == 24);
  CHECK(kv.pool.used() == 2);
}

TEST_CASE("a budget for each chunk bounds what a prompt holds at any time: budget and chunk") {
  KvMemoryConfig config = blocks(10);
  config.budget = models::PoolBudget(models::KvBudget{.entries = 32, .each_chunk = true});
  config.largest_chunk = 48;
  KvMemory kv(config);
  CHECK(kv.most_entries(1000, 5) == 80);  // 32 and a chunk of 48
  CHECK(kv.most_entries(1000, 500) == 532);
  CHECK(kv.most_entries(20, 5) == 25);
  Request request = request_of(1000, 5);
  kv.begin(request, 0);
  for (int chunk = 0; chunk < 20; ++chunk) {
    CHECK(kv.blocks_for_chunk(request, 48) <= 3);
    kv.extend(request, 48);
    CHECK(kv.pool.used() == (chunk == 0 ? 3 : 5));  // (32 + 48) / 16
  }
  kv.extend(request, 40);
  CHECK(request.sequence.computed == 1000);
  kv.end_prompt(request);
  CHECK(request.sequence.entries() == 32);
  CHECK(kv.pool.used() == 2);
  kv.release(request);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("a ring takes no more blocks once it is full, and a sequence that leaves gives back what it took") {
  KvMemoryConfig config = blocks(20);
  config.budget = models::PoolBudget(models::KvBudget{.entries = 50, .ring = true});
  KvMemory kv(config);
  DecodeSet decoding({50}, kBlockTokens, {}, 50);
  Request longer = request_of(100, 200, 1), shorter = request_of(20, 200, 2);
  for (Request* request : {&longer, &shorter}) {
    kv.begin(*request, 0);
    kv.extend(*request, request->prompt_tokens);
    ++request->emitted;
    kv.end_prompt(*request);
    decoding.join(*request);
  }
  CHECK(kv.pool.used() == 4 + 2);  // 50 entries, and 20
  std::vector<Request*> finished;
  for (int step = 0; step < 150; ++step) {
    kv.grow(decoding);
    decoding.advance(finished);
    CHECK(kv.pool.used() <= 8);
  }
  CHECK(kv.pool.used() == 8);  // both are full
  CHECK(decoding.attended()[0] == models::Attended{100, 50});
  decoding.leave(longer);
  kv.settle(longer);
  CHECK(longer.sequence.lease.blocks() == 4);
  kv.release(longer);
  while (finished.empty()) {
    kv.grow(decoding);
    decoding.advance(finished);
  }
  kv.settle(shorter);
  kv.release(shorter);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("what a budget has left of a prompt is what goes to the host and comes back") {
  KvMemoryConfig config = blocks(10);
  config.budget = models::PoolBudget(models::KvBudget{.entries = 32});
  config.below.stores = {std::make_shared<KvSwap>(kSwap)};
  KvMemory kv(config);
  Request request = request_of(100, 50);
  kv.begin(request, 0);
  kv.extend(request, 100);
  ++request.emitted;
  kv.end_prompt(request);
  kv.swap_out(request, Seconds());
  CHECK(request.sequence.kv_ready.si() == approx(2e-3));  // two blocks of 1 kB at 1 MB/s
  kv.release(request);
  CHECK(kv.pool.used() == 0);
  kv.swap_in(request, Seconds(1));
  CHECK(kv.pool.used() == 2);
  CHECK(request.sequence.computed == 100);
  CHECK(request.sequence.entries() == 32);
}

TEST_CASE("a ring that is swapped out takes what it holds along, and no more when it is back") {
  KvMemoryConfig config = blocks(20);
  config.budget = models::PoolBudget(models::KvBudget{.entries = 32, .ring = true});
  const auto swap = std::make_shared<KvSwap>(kSwap);
  config.below.stores = {swap};
  KvMemory kv(config);
  Request request = request_of(100, 500);
  kv.begin(request, 0);
  kv.extend(request, 100);
  kv.end_prompt(request);
  CHECK(kv.pool.used() == 2);
  // 200 answers later it still holds 32 entries.
  request.emitted = 200;
  request.sequence.computed = 299;
  request.sequence.state = Sequence::State::decoding;
  kv.swap_out(request, Seconds());
  CHECK(swap->used() == 2);
  kv.release(request);
  CHECK(kv.pool.used() == 0);
  request.sequence.state = Sequence::State::waiting;
  kv.swap_in(request, Seconds(1));
  CHECK(swap->used() == 0);
  CHECK(kv.pool.used() == 2);
  CHECK(kv.blocks_for_chunk(request, 1) == 1);
  kv.extend(request, 1);
  kv.end_prompt(request);
  CHECK(kv.pool.used() == 2);
}

TEST_CASE("a shorter common beginning frees the blocks behind it, in HBM or on the host") {
  KvMemoryConfig config = blocks(10);
  const auto swap = std::make_shared<KvSwap>(kSwap);
  config.below.stores = {swap};
  KvMemory kv(config);
  Request request = request_of(100, 5);
  kv.begin(request, 0);
  kv.extend(request, 80);
  CHECK(kv.truncate(request, 90) == 0);
  CHECK(kv.truncate(request, 50) == 30);
  CHECK(kv.pool.used() == 4);
  kv.swap_out(request, Seconds(1));
  kv.release(request);
  CHECK(kv.pool.used() == 0);
  CHECK(swap->used() == 4);
  CHECK(request.sequence.kv_ready.si() == approx(1.004));  // 4 kB at 1 MB/s
  request.sequence.computed = 0;
  CHECK(kv.truncate(request, 20) == 30);
  CHECK(swap->used() == 2);
  kv.swap_in(request, Seconds(2));
  CHECK(swap->used() == 0);
  CHECK(kv.pool.used() == 2);
  CHECK(request.sequence.computed == 20);
  CHECK(request.sequence.swapped == 0);
}

TEST_CASE("of a whole prompt that is swapped out one token is left to compute, of one that goes on none") {
  KvMemoryConfig config = blocks(10);
  config.below.stores = {std::make_shared<KvSwap>(kSwap)};
  for (const bool complete : {true, false}) {
    KvMemory kv(config);
    Request request = request_of(64, 5);
    request.complete = complete;
    kv.begin(request, 0);
    kv.extend(request, 64);
    kv.swap_out(request, Seconds());
    CHECK(request.sequence.swapped == (complete ? 63 : 64));
  }
}

TEST_CASE("a sequence that comes takes what is not cached here; its answer's blocks too where it does not grow") {
  for (const bool grows : {true, false}) {
    KvMemoryConfig config = blocks(10);
    config.prefix_caching = true;
    config.grows = grows;
    KvMemory kv(config);
    Request first = request_of(33, 1);
    kv.begin(first, 0);
    kv.extend(first, 33);
    kv.release(first);  // two whole blocks stay cached

    Request second = request_of(40, 20);
    second.prompt = {{1, 33, 0}, {7, 7, 0}};
    KvImport import{&second, 2, 0, -1, 0, {}};
    REQUIRE(kv.reserve(import));
    CHECK(import.hit_blocks == 2);
    CHECK(kv.pool.used() == (grows ? 3 : 4));  // 40 tokens, or 60
    second.sequence.computed = 40;
    kv.adopt(second, import);
    CHECK(second.sequence.lease.blocks() == (grows ? 3 : 4));
    CHECK(import.lease.blocks() == 0);
    Lease lent = kv.lend(second);
    CHECK(kv.pool.used() == (grows ? 3 : 4));
    kv.pool.release(lent);
    CHECK(kv.pool.used() == 0);

    Request large = request_of(170, 1, 3);
    KvImport too_large{&large, 3, 0, -1, 0, {}};
    CHECK_FALSE(kv.reserve(too_large));
    CHECK(kv.pool.used() == 0);
  }
}
