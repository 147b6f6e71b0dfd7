// SPDX-License-Identifier: Apache-2.0
#include "models/speculation.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using namespace llmscape::models;
using llmscape::testing::approx;

TEST_CASE("a pass yields the accepted drafts and one token of the target") {
  CHECK(tokens_per_pass(4, 0.8) == approx(3.3616));  // 1 + .8 + .64 + .512 + .4096
  CHECK(tokens_per_pass(3, 0.8) == approx(2.952));
  CHECK(tokens_per_pass(2, 0.6) == approx(1.96));
}

TEST_CASE("drafts that are never accepted yield one token, drafts that always are all of them") {
  CHECK(tokens_per_pass(5, 0.0) == 1);
  CHECK(tokens_per_pass(5, 1.0) == 6);
  CHECK(tokens_per_pass(5, 1 - 1e-9) == approx(6).epsilon(1e-7));
  CHECK(tokens_per_pass(0, 0.7) == approx(1));
}
