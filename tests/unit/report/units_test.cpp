// SPDX-License-Identifier: Apache-2.0
#include "sim/report/units.hpp"

#include <doctest/doctest.h>

namespace llmscape::report {

TEST_CASE("times have three digits and the unit in which they are easiest to say") {
  CHECK(duration(0) == "0 s");
  CHECK(duration(4.2e-6) == "4.20 us");
  CHECK(duration(0.0008124) == "812 us");
  CHECK(duration(0.0452) == "45.2 ms");
  CHECK(duration(0.9996) == "1.00 s");
  CHECK(duration(204.23) == "204 s");
}

TEST_CASE("amounts have three digits, or all those before the point in groups") {
  CHECK(amount(0) == "0");
  CHECK(amount(0.41234) == "0.412");
  CHECK(amount(12.345) == "12.3");
  CHECK(amount(999.4) == "999");
  CHECK(amount(1234.5) == "1,235");
  CHECK(grouped(13653) == "13,653");
  CHECK(grouped(-1000000) == "-1,000,000");
  CHECK(grouped(999) == "999");
  CHECK(percent(0.978) == "97.8 %");
}

TEST_CASE("numbers have their units but where names say them, and ratios no exponent") {
  CHECK(with_unit(665, "W") == "665 W");
  CHECK(with_unit(2.5, "EUR/Mtoken") == "2.50 EUR");
  CHECK(with_unit(2.5, "EUR or JPY/Mtoken") == "2.50 EUR or JPY");
  CHECK(with_unit(8.57, "J/token") == "8.57 J");
  CHECK(with_unit(8, "/s") == "8.00 /s");
  CHECK(with_unit(4.6, "tokens/J") == "4.60");
  CHECK(with_unit(12, "1/s") == "12.0");
  CHECK(with_unit(0.2, "s") == "200 ms");
  CHECK(with_unit(0.5, "share") == "50.0 %");
  CHECK(with_unit(12, "") == "12.0");
  CHECK(ratio_text(2.5) == "2.5x");
  CHECK(ratio_text(9982.6) == "9,983x");
  CHECK(ratio_text(0) == "0x");
}

TEST_CASE("text breaks at spaces and hangs below its own start") {
  CHECK(wrapped("one two three", 7) == "one two\nthree");
  CHECK(wrapped("one two three", 7, 2) == "one two\n  three");
  CHECK(wrapped("incomprehensibilities is long", 10) == "incomprehensibilities\nis long");
  CHECK(wrapped("", 10).empty());
}

}  // namespace llmscape::report
