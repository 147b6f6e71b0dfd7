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

TEST_CASE("devices are on while any of those who stand on them is") {
  const auto all = united({{Seconds(6), Seconds(8)},
                           {Seconds(1), Seconds(3)},
                           {Seconds(2), Seconds(4)},
                           {Seconds(7), Seconds(7.5)},
                           {Seconds(4), Seconds(5)}});
  REQUIRE(all.size() == 2);
  CHECK(all[0].from == Seconds(1));
  CHECK(all[0].to == Seconds(5));
  CHECK(all[1].from == Seconds(6));
  CHECK(all[1].to == Seconds(8));
  CHECK(length_of(all) == Seconds(4 + 2));
}

}  // namespace llmscape::serving
