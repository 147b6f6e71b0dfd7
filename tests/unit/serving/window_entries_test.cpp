// SPDX-License-Identifier: Apache-2.0
// What sequences hold, and leave cached, of layers with a window beside layers without.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/serving/replica/kv_memory.hpp"

using namespace llmscape;
using namespace llmscape::serving;

namespace {

KvMemoryConfig pool_of(std::int64_t count) {
  KvMemoryConfig config;
  config.blocks = count;
  config.block_tokens = 16;
  return config;
}

Request sequence_of(std::int64_t prompt, std::int64_t output) {
  Request request;
  request.id = 1;
  request.prompt = {{1, prompt, 0}};
  request.prompt_tokens = prompt;
  request.output_tokens = output;
  request.output = 1001;
  return request;
}

}  // namespace

TEST_CASE("layers with a window: what is given back is what was taken, though the prompt was revised meanwhile") {
  KvMemoryConfig config = pool_of(20);
  config.windows = {{3, 0.5}, {8, 0.25}};
  KvMemory kv(config);
  Request request = sequence_of(30, 2);
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
  KvMemoryConfig config = pool_of(1000);
  config.windows = {{100, 1}};
  const auto held = [&config](std::int64_t prompt, std::int64_t output) {
    return KvMemory(config).window_blocks(sequence_of(prompt, output));
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
  KvMemoryConfig config = pool_of(1000);
  config.prefix_caching = true;
  config.windows = {{8, 2}};
  KvMemory kv(config);
  const auto asks = [](std::uint64_t id) {
    Request request = sequence_of(16 * 20 - 1, 1);
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

// As above, but the first prompt is the shared prefix and no more, and the second one goes on alone from its end: the
// third one begins there as well, and takes its own 2 x 4 beside the 2 x 4 of window that the second one holds already.
TEST_CASE(
    "layers with a window: the window before a prefix is held once, though its only holder went on from its end") {
  KvMemoryConfig config = pool_of(1000);
  config.prefix_caching = true;
  config.windows = {{8, 2}};
  config.window_pools = {};
  KvMemory kv(config);
  const auto asks = [](std::uint64_t id, std::int64_t more) {
    Request request = sequence_of(16 * 16 + more, 1);
    request.prompt = {{1, 16 * 16, 0}};
    if (more > 0) request.prompt.push_back({id, more, 0});
    return request;
  };
  Request first = asks(2, 0), second = asks(3, 16 * 4 - 1), third = asks(4, 16 * 4 - 1);
  kv.begin(first, 0);
  kv.extend(first, 16 * 16);
  kv.release(first);
  const auto taken_by = [&kv](Request& request) {
    const std::int64_t before = kv.pool.used();
    const PrefixTree::Match hit = kv.match(request);
    CHECK(hit.blocks == 16);
    const std::int64_t asked = kv.window_blocks(request, hit);
    kv.begin(request, hit.blocks);
    CHECK(kv.pool.used() - before == asked + hit.unreferenced_blocks);
    kv.extend(request, 16 * 4 - 1);
    return asked;
  };
  CHECK(taken_by(second) == 2 * 4 + 2 * 4);
  CHECK(taken_by(third) == 2 * 4);
  CHECK(kv.pool.used() ==
        16 + 2 * 4 + 3 * 2 * 4);  // the prefix, what both computed, and three times 4 blocks of windows
  kv.release(second);
  kv.release(third);
  CHECK(kv.pool.used() == 0);
}

TEST_CASE("layers with a window: a sequence takes no more behind a prefix, or again, than what it was let in with") {
  KvMemoryConfig config = pool_of(10'000);
  config.prefix_caching = true;
  config.windows = {{40, 0.7}, {8, 2}};
  KvMemory kv(config);
  for (const std::int64_t prompt : {200, 700, 3000})
    for (const std::int64_t output : {1, 300, 2000})
      for (const std::int64_t hit : {1, 5, 11})
        for (const std::int64_t emitted : {0, 1, 250}) {
          Request request = sequence_of(prompt, output);
          const std::int64_t alone = kv.window_blocks(request);
          request.emitted = std::min(emitted, output - 1);
          CHECK(kv.window_blocks(request, {hit, 0, nullptr}) <= alone);
        }
}

// 100 blocks, of which cached ones take 3 each with their windows: at most 33, not 100.
TEST_CASE("layers with a window: what is cached takes the places of all layers until it is evicted") {
  KvMemoryConfig config = pool_of(100);
  config.prefix_caching = true;
  config.windows = {{2, 2}};
  KvMemory kv(config);
  for (std::uint64_t id = 1; id <= 10; ++id) {
    Request request = sequence_of(16 * 10, 1);
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
  KvMemoryConfig config = pool_of(1000);
  config.prefix_caching = true;
  config.window_pools = {{100, 200}};
  KvMemory kv(config);
  const auto asks = [](std::uint64_t id) {
    Request request = sequence_of(1620, 1);
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
  KvMemoryConfig config = pool_of(1000);
  config.window_pools = {{100, 250}, {40, 1000}};
  KvMemory kv(config);
  Request first = sequence_of(80, 40), second = sequence_of(400, 1), third = sequence_of(80, 40);
  CHECK(kv.window_pools_fit(first));
  kv.begin(first, 0);  // 80 to 100 in half of its steps, then 100: 95
  CHECK(kv.window_pools_fit(second));
  kv.begin(second, 0);  // 100
  CHECK_FALSE(kv.window_pools_fit(third));
  first.prompt_tokens = 4;  // revised meanwhile
  kv.release(first);
  CHECK(kv.window_pools_fit(third));
  kv.release(second);
  Request large = sequence_of(400, 1);
  config.window_pools = {{1000, 100}};
  KvMemory small(config);
  CHECK(small.window_pools_fit(large));
}
