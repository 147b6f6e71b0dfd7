// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/speculation.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;

TEST_CASE("100,000 passes of four drafts accepted at 0.8 answer 3.3616 tokens each") {
  const Speculation speculation{4, 0.8, RandomStreams(1)};
  constexpr std::int64_t kTokens = 336'160;
  CHECK(static_cast<double>(kTokens) / static_cast<double>(speculation.passes(7, 1, kTokens, 100).drafted) ==
        approx(3.3616).epsilon(0.01));
  CHECK(speculation.growth(10'000) == 33'616);
}

TEST_CASE("a pass keeps j drafts with probability a^j (1 - a), all k with a^k") {
  // Two tokens take one pass if the first draft is accepted, else two.
  const Speculation speculation{3, 0.6, RandomStreams(2)};
  std::map<std::int64_t, int> passes;
  for (std::uint64_t request = 0; request < 100'000; ++request)
    ++passes[speculation.passes(request, 1, 2, 100).drafted];
  CHECK(passes.size() == 2);
  CHECK(passes[1] == approx(60'000).epsilon(0.01));
}

TEST_CASE("without drafts, or when none is accepted, a pass is a token; when all are, it is one more than the drafts") {
  CHECK(Speculation{}.passes(1, 1, 99, 100).drafted == 99);
  CHECK(Speculation{4, 0, RandomStreams(1)}.passes(1, 1, 99, 100).drafted == 99);
  CHECK(Speculation{4, 0, RandomStreams(1)}.growth(99) == 99);
  CHECK(Speculation{4, 1, RandomStreams(1)}.passes(1, 1, 99, 100).drafted == 20);
  CHECK(Speculation{4, 1, RandomStreams(1)}.growth(99) == 495);
}

TEST_CASE("the passes of a request depend on itself alone") {
  const Speculation one{4, 0.8, RandomStreams(1)}, other{4, 0.8, RandomStreams(2)};
  CHECK(one.passes(5, 1, 1000, 100).drafted == one.passes(5, 1, 1000, 100).drafted);
  CHECK(one.passes(5, 1, 1000, 100).drafted != one.passes(6, 1, 1000, 100).drafted);
  CHECK(one.passes(5, 1, 1000, 100).drafted != other.passes(5, 1, 1000, 100).drafted);
}

TEST_CASE("drafts come until the context is too long for them to be in time, then a pass is a token") {
  // A pass with drafts reaches to context + answered + 5.
  const Speculation all{4, 1, RandomStreams(1), 120}, none{4, 0, RandomStreams(1), 120};
  const auto five_each = all.passes(1, 1, 30, 100);  // after 0, 5, 10 and 15 tokens
  CHECK(five_each.drafted == 4);
  CHECK(five_each.tokens == 20);
  const auto one_each = none.passes(1, 1, 30, 100);  // after 0 to 15
  CHECK(one_each.drafted == 16);
  CHECK(one_each.tokens == 16);
  CHECK(all.passes(1, 1, 12, 100).tokens == 12);  // ends before
  CHECK(all.passes(1, 1, 30, 115).drafted == 1);
  CHECK(all.passes(1, 1, 30, 116).drafted == 0);
  CHECK(Speculation{4, 0.8, RandomStreams(1), 0}.passes(1, 1, 30, 1).drafted == 0);
  CHECK_FALSE(Speculation{4, 0.8, RandomStreams(1)}.may_be_late());
}

TEST_CASE("a request needs blocks for the drafts that it gets, and for none that come late") {
  CHECK(Speculation{4, 0.8, RandomStreams(1)}.tokens_to_allocate(100) == 104);
  CHECK(Speculation{4, 0.8, RandomStreams(1), 102}.tokens_to_allocate(100) == 102);
  CHECK(Speculation{4, 0.8, RandomStreams(1), 50}.tokens_to_allocate(100) == 100);
  CHECK(Speculation{}.tokens_to_allocate(100) == 100);
}
