// SPDX-License-Identifier: Apache-2.0
#include "models/attention_pairs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

namespace attention_pairs_test {

using namespace llmscape::models;

namespace {

struct Counted {
  double pairs = 0;
  std::int64_t first_key = 0;
};

// Goes through the queries one by one: query i stands at c + i and sees itself and what the window reaches before it.
Counted count_one_by_one(std::int64_t tokens, std::int64_t cached, std::int64_t window) {
  Counted counted;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t visible = std::min(cached + i + 1, window == 0 ? cached + i + 1 : window);
    counted.pairs += static_cast<double>(visible);
    if (i == 0) counted.first_key = cached + 1 - visible;
  }
  return counted;
}

}  // namespace

TEST_CASE("pairs of the published examples") {
  CHECK(causal_pairs(512, 7680) == 4'063'488);
  CHECK(causal_pairs(8192, 0) == 33'558'528);
  CHECK(windowed_pairs(512, 0, 128) == 57'408);
  CHECK(windowed_pairs(512, 4096, 1024) == 524'288);
  CHECK(windowed_pairs(8192, 0, 4096) == 25'167'872);
  CHECK(decode_pairs(1, 1000) == 1000);
  CHECK(decode_pairs(5, 1000) == 5 * 1000 - 10);
}

TEST_CASE("sixteen chunks of 512 attend to as many pairs as one prompt of 8,192") {
  double sum = 0;
  for (std::int64_t chunk = 0; chunk < 16; ++chunk) sum += causal_pairs(512, 512 * chunk);
  CHECK(sum == causal_pairs(8192, 0));
}

TEST_CASE("however a prompt is cut, its pairs are conserved") {
  for (std::int64_t window : {0, 1, 7, 64})
    for (std::int64_t n = 0; n <= 40; ++n)
      for (std::int64_t c = 0; c <= 40; c += 3)
        CHECK(windowed_pairs(n, c, window) + windowed_pairs(13, c + n, window) == windowed_pairs(n + 13, c, window));
}

TEST_CASE("closed forms agree with counting query by query") {
  for (std::int64_t window : {0, 1, 5, 16, 100})
    for (std::int64_t n = 1; n <= 30; ++n)
      for (std::int64_t c = 0; c <= 30; ++c) {
        const Counted counted = count_one_by_one(n, c, window);
        CHECK(windowed_pairs(n, c, window) == counted.pairs);
        CHECK(keys_read(n, c, window) == n + c - counted.first_key);
      }
}

TEST_CASE("a prefix hit saves the prefix's own pairs, and a hit of all but one token leaves one decode") {
  const std::int64_t prompt = 3000, hit = 2048;
  CHECK(causal_pairs(prompt, 0) - causal_pairs(prompt - hit, hit) == causal_pairs(hit, 0));
  CHECK(causal_pairs(1, prompt - 1) == decode_pairs(1, prompt));
}

}  // namespace attention_pairs_test
