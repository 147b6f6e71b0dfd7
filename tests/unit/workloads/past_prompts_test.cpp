// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/past_prompts.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace llmscape::workloads {

TEST_CASE("a prompt is put together from the texts that it shares with earlier ones") {
  PastPrompts past(100);
  past.add(0, 1, nullptr, 0, {1, 100, 0});
  past.add(1, 1, past.find(0, 60), 60, {2, 50, 0});   // 60 of 1, 50 of 2
  past.add(2, 1, past.find(1, 110), 110, {3, 5, 0});  // all of that, and 5 of 3
  const auto* longest = past.find(2, 115);
  REQUIRE(longest);
  CHECK(past.head_of(*longest, 115) == Prompt{{1, 60, 0}, {2, 50, 0}, {3, 5, 0}});
  CHECK(past.head_of(*longest, 61) == Prompt{{1, 60, 0}, {2, 1, 0}});
  CHECK(past.head_of(*longest, 60) == Prompt{{1, 60, 0}});
  CHECK(past.texts() == 3);
}

TEST_CASE("prompts are forgotten behind the largest age, and their texts with the last that has them") {
  PastPrompts past(10);
  // 3,000 a second apart, each the whole of a first one and a token of its own.
  past.add(0, 1, nullptr, 0, {1, 100, 0});
  for (int i = 1; i < 3000; ++i) past.add(i, 1, past.find(i, 100), 100, {static_cast<ContentId>(i) + 1, 1, 0});
  // Those from 2989 s on, 11, and the 2,048 before them that may be looked at.
  CHECK(past.size() == 11 + 2048);
  CHECK(past.texts() == past.size() + 1);
}

TEST_CASE("where there are too many, prompts of every age stay") {
  PastPrompts past(1e9, 10'000);
  for (int i = 0; i < 100'000; ++i) past.add(i, 1, nullptr, 0, {static_cast<ContentId>(i) + 1, 1, 0});
  CHECK(past.texts() == past.size());
  // Halved four times, at each 10,001st: 100,000 / 16 = 6,250 of them, 16 s apart.
  CHECK(past.size() == 6'250);
  for (const double start : {0.0, 20'000.0, 50'000.0, 99'000.0}) {
    CAPTURE(start);
    CHECK(std::abs(past.find(start, 1)->start - start) <= 16);
  }
}

}  // namespace llmscape::workloads
