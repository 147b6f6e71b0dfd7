// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/provisioned.hpp"

#include <doctest/doctest.h>

namespace llmscape::serving {

TEST_CASE("a replica is provisioned from when it is switched on until it is switched off, or the run ends") {
  Provisioned on;
  CHECK(on.time(Seconds(10)) == Seconds());
  on.switch_on(Seconds(1));
  CHECK(on.time(Seconds(10)) == Seconds(9));
  on.switch_off(Seconds(3));
  on.switch_on(Seconds(5));
  on.switch_off(Seconds(9));
  CHECK(on.time(Seconds(10)) == Seconds(2 + 4));
  CHECK(on.time(Seconds(6)) == Seconds(2 + 1));
  CHECK(on.time(Seconds(1)) == Seconds());
  REQUIRE(on.spans(Seconds(10)).size() == 2);
  CHECK(on.spans(Seconds(10))[1].from == Seconds(5));
  CHECK(on.spans(Seconds(10))[1].to == Seconds(9));
}

}  // namespace llmscape::serving
