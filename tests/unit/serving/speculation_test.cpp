// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/speculation.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace llmscape;
using namespace llmscape::serving;

TEST_CASE("100,000 passes of four drafts accepted at 0.8 answer 3.3616 tokens each") {
  const Speculation speculation{4, 0.8, RandomStreams(1)};
  constexpr std::int64_t kTokens = 336'160;
  CHECK(static_cast<double>(kTokens) / static_cast<double>(speculation.passes(7, 1, kTokens)) ==
        doctest::Approx(3.3616).epsilon(0.01));
  CHECK(speculation.growth(10'000) == 33'616);
}

TEST_CASE("a pass keeps j drafts with probability a^j (1 - a), all k with a^k") {
  // Two tokens take one pass if the first draft is accepted, else two.
  const Speculation speculation{3, 0.6, RandomStreams(2)};
  std::map<std::int64_t, int> passes;
  for (std::uint64_t request = 0; request < 100'000; ++request) ++passes[speculation.passes(request, 1, 2)];
  CHECK(passes.size() == 2);
  CHECK(passes[1] == doctest::Approx(60'000).epsilon(0.01));
}

TEST_CASE("without drafts, or when none is accepted, a pass is a token; when all are, it is one more than the drafts") {
  CHECK(Speculation{}.passes(1, 1, 99) == 99);
  CHECK(Speculation{4, 0, RandomStreams(1)}.passes(1, 1, 99) == 99);
  CHECK(Speculation{4, 0, RandomStreams(1)}.growth(99) == 99);
  CHECK(Speculation{4, 1, RandomStreams(1)}.passes(1, 1, 99) == 20);
  CHECK(Speculation{4, 1, RandomStreams(1)}.growth(99) == 495);
}

TEST_CASE("the passes of a request depend on itself alone") {
  const Speculation one{4, 0.8, RandomStreams(1)}, other{4, 0.8, RandomStreams(2)};
  CHECK(one.passes(5, 1, 1000) == one.passes(5, 1, 1000));
  CHECK(one.passes(5, 1, 1000) != one.passes(6, 1, 1000));
  CHECK(one.passes(5, 1, 1000) != other.passes(5, 1, 1000));
}
