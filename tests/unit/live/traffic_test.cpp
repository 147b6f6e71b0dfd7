// SPDX-License-Identifier: Apache-2.0
#include "sim/live/traffic.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace llmscape::live;
using llmscape::testing::approx;

TEST_CASE("traffic has the rate and the mean lengths that were asked for") {
  const Traffic traffic{5, 64, 32, 1};
  const auto requests = traffic.requests(20000, 1e9);
  REQUIRE(requests.size() == 20000);
  CHECK(requests.front().arrival_s == 0);
  // Standard errors: 0.7 % of the rate, 0.4 % of each mean.
  CHECK(19999 / requests.back().arrival_s == approx(5).epsilon(0.03));
  double prompt = 0, output = 0;
  for (const LiveRequest& r : requests) {
    CHECK((r.prompt_tokens >= 1 && r.prompt_tokens <= 127));
    CHECK((r.output_tokens >= 1 && r.output_tokens <= 63));
    CHECK(r.prompt_tokens + r.output_tokens <= traffic.longest());
    prompt += static_cast<double>(r.prompt_tokens);
    output += static_cast<double>(r.output_tokens);
  }
  CHECK(prompt / 20000 == approx(64).epsilon(0.02));
  CHECK(output / 20000 == approx(32).epsilon(0.02));
}

TEST_CASE("traffic ends with its count or its time, and an infinite rate is a burst") {
  const Traffic traffic{10, 4, 4, 1};
  CHECK(traffic.requests(3, 1e9).size() == 3);
  for (const LiveRequest& r : traffic.requests(1 << 20, 2)) CHECK(r.arrival_s < 2);
  const Traffic burst{std::numeric_limits<double>::infinity(), 4, 4, 1};
  CHECK(burst.requests(7, 1).back().arrival_s == 0);
}
