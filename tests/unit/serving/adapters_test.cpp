// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/adapters.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "sim/serving/request.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;

TEST_CASE("an adapter that runs stays; of the others the one that was not used for longest is unloaded") {
  AdapterSlots slots(2);
  slots.use(0);
  slots.use(1);
  CHECK(slots.loads() == 2);
  CHECK(slots.in_use() == 2);
  CHECK_FALSE(slots.fits(2));
  CHECK(slots.fits(1));
  CHECK(slots.fits(-1));
  slots.use(1);
  slots.leave(1);
  CHECK_FALSE(slots.fits(2));  // another request still uses it
  slots.leave(1);
  slots.leave(0);
  CHECK(slots.in_use() == 0);
  slots.use(2);  // instead of 1, which ended first
  slots.use(0);
  CHECK(slots.loads() == 3);
  slots.leave(0);
  slots.use(1);
  CHECK(slots.loads() == 4);
  CHECK(slots.in_use() == 2);
}

TEST_CASE("after a loss everything is loaded again") {
  AdapterSlots slots(2);
  slots.use(0);
  slots.leave(0);
  slots.forget();
  slots.use(0);
  CHECK(slots.loads() == 2);
}

TEST_CASE("adapters are drawn by their popularity, the same for all of a session") {
  const AdapterLaw law(3, 1, RandomStreams(1));  // shares 6/11, 3/11, 2/11
  std::vector<int> drawn(3);
  Request request;
  for (request.id = 0; request.id < 110'000; ++request.id) ++drawn[static_cast<std::size_t>(law.of(request))];
  CHECK(drawn[0] == approx(60'000).epsilon(0.02));
  CHECK(drawn[1] == approx(30'000).epsilon(0.02));
  CHECK(drawn[2] == approx(20'000).epsilon(0.02));
  request.session = 7;
  const int of_session = law.of(request);
  for (request.id = 0; request.id < 100; ++request.id) CHECK(law.of(request) == of_session);
}
