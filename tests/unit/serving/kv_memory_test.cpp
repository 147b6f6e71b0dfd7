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

TEST_CASE("layers with a window: what is given back is what was taken, though the prompt was revised meanwhile") {
  KvMemoryConfig config = blocks(20);
  config.windows = {{3, 0.5}, {8, 0.25}};
  KvMemory kv(config);
  Request request = request_of(30, 2);
  CHECK(kv.window_blocks(request) == 2);  // two blocks in all: 2 x 0.5 + 2 x 0.25 = 1.5
  kv.begin(request, 0);
  CHECK(kv.pool.used() == 2);
  request.prompt = {{1, 158, 0}};
  request.prompt_tokens = 158;
  CHECK(kv.window_blocks(request) == 4);  // ten in all: 3 x 0.5 + 8 x 0.25 = 3.5
  kv.extend(request, 30);
  CHECK(kv.pool.used() == 4);
  kv.release(request);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("layers with a window hold in the mean what a sequence grows through, or all of it where none grows") {
  KvMemoryConfig config = blocks(1000);
  config.windows = {{100, 1}};
  const auto held = [&config](std::int64_t prompt, std::int64_t output) {
    return KvMemory(config).window_blocks(request_of(prompt, output));
  };
  CHECK(held(16 * 10, 16 * 40) == 30);    // from 10 to 50 blocks
  CHECK(held(16 * 100, 16 * 40) == 100);  // full from the start
  CHECK(held(16 * 50, 16 * 100) == 88);   // from 50 to 100 in half of its steps, 75 in the mean, then 100: 87.5
  config.grows = false;
  CHECK(held(16 * 10, 16 * 40) == 50);
  CHECK(held(16 * 50, 16 * 100) == 100);
}

// Prompts of 20 blocks that share their first 16, with layers whose windows of 8 blocks weigh 2 each: the first one
// takes 20 + 16. The next ones take their last 4 and 2 x 4 of windows; the 4 blocks of window before that they hold
// together.
TEST_CASE("layers with a window: the window before a shared prefix's end is held once, as the prefix is") {
  KvMemoryConfig config = blocks(1000);
  config.prefix_caching = true;
  config.windows = {{8, 2}};
  KvMemory kv(config);
  const auto asks = [](std::uint64_t id) {
    Request request = request_of(16 * 20 - 1, 1);
    request.prompt = {{1, 16 * 16, 0}, {id, 16 * 4 - 1, 0}};
    return request;
  };
  Request first = asks(2), second = asks(3), third = asks(4);
  CHECK(kv.window_blocks(first, kv.match(first)) == 16);
  kv.begin(first, 0);
  kv.extend(first, 16 * 20 - 1);
  CHECK(kv.pool.used() == 20 + 16);
  const auto begin = [&kv](Request& request, std::int64_t taken) {
    const PrefixTree::Match hit = kv.match(request);
    CHECK(hit.blocks == 16);
    CHECK(kv.window_blocks(request, hit) == taken);
    const std::int64_t before = kv.pool.used();
    kv.begin(request, hit.blocks);
    CHECK(kv.pool.used() - before == taken);
    kv.extend(request, 16 * 4 - 1);
    CHECK(kv.pool.used() - before == taken + 4);
  };
  begin(second, 2 * 4 + 2 * 4);
  begin(third, 2 * 4);
  kv.release(second);  // the third one still holds the window that they shared
  CHECK(kv.pool.used() == 20 + 16 + 4 + 2 * 4 + 2 * 4);
  kv.release(third);
  kv.release(first);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("layers with a window: a sequence takes no more behind a prefix, or again, than what it was let in with") {
  KvMemoryConfig config = blocks(10'000);
  config.prefix_caching = true;
  config.windows = {{40, 0.7}, {8, 2}};
  KvMemory kv(config);
  for (const std::int64_t prompt : {200, 700, 3000})
    for (const std::int64_t output : {1, 300, 2000})
      for (const std::int64_t hit : {1, 5, 11})
        for (const std::int64_t emitted : {0, 1, 250}) {
          Request request = request_of(prompt, output);
          const std::int64_t alone = kv.window_blocks(request);
          request.emitted = std::min(emitted, output - 1);
          CHECK(kv.window_blocks(request, {hit, 0, nullptr}) <= alone);
        }
}

// 100 blocks, of which cached ones take 3 each with their windows: at most 33, not 100.
TEST_CASE("layers with a window: what is cached takes the places of all layers until it is evicted") {
  KvMemoryConfig config = blocks(100);
  config.prefix_caching = true;
  config.windows = {{2, 2}};
  KvMemory kv(config);
  for (std::uint64_t id = 1; id <= 10; ++id) {
    Request request = request_of(16 * 10, 1);
    request.prompt = {{id, 16 * 10, 0}};
    kv.begin(request, 0);
    kv.extend(request, 16 * 10);
    kv.release(request);
    CHECK(kv.pool.free() >= 0);
  }
  std::int64_t cached = 0;
  for (std::uint64_t id = 1; id <= 10; ++id) cached += kv.pool.match({{id, 16 * 10, 0}}, 16 * 10 + 1).blocks;
  CHECK(cached <= 33);
  CHECK(cached >= 25);
}

// A prefix of 1,600 tokens in windows of 100: once for both, beside the 20 that each computes behind it.
TEST_CASE("pools of layers with a window: the window before a shared prefix's end is held once") {
  KvMemoryConfig config = blocks(1000);
  config.prefix_caching = true;
  config.window_pools = {{100, 200}};
  KvMemory kv(config);
  const auto asks = [](std::uint64_t id) {
    Request request = request_of(1620, 1);
    request.prompt = {{1, 1600, 0}, {id, 20, 0}};
    return request;
  };
  Request first = asks(2);
  kv.begin(first, 0);  // 100
  kv.extend(first, 1620);
  std::vector<Request> others;
  for (std::uint64_t id = 3; id < 6; ++id) others.push_back(asks(id));
  for (Request& request : others) {  // 80 + 20, then 20 more, then too many
    const bool fits = kv.window_pools_fit(request);
    CHECK(fits == (&request == &others.front()));
    if (fits) kv.begin(request, kv.match(request).blocks);
  }
  kv.release(first);
  CHECK(kv.window_pools_fit(others[1]));
  kv.begin(others[1], kv.match(others[1]).blocks);
  kv.begin(others[2], kv.match(others[2]).blocks);  // 80 + 3 x 20
  for (Request& request : others) kv.release(request);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("pools of layers with a window: what a sequence holds of them is given back, and one always runs") {
  KvMemoryConfig config = blocks(1000);
  config.window_pools = {{100, 250}, {40, 1000}};
  KvMemory kv(config);
  Request first = request_of(80, 40), second = request_of(400, 1), third = request_of(80, 40);
  CHECK(kv.window_pools_fit(first));
  kv.begin(first, 0);  // 80 to 100 in half of its steps, then 100: 95
  CHECK(kv.window_pools_fit(second));
  kv.begin(second, 0);  // 100
  CHECK_FALSE(kv.window_pools_fit(third));
  first.prompt_tokens = 4;  // revised meanwhile
  kv.release(first);
  CHECK(kv.window_pools_fit(third));
  kv.release(second);
  Request large = request_of(400, 1);
  config.window_pools = {{1000, 100}};
  KvMemory small(config);
  CHECK(small.window_pools_fit(large));
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
