// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/expression.hpp"

namespace llmscape {
namespace {

const std::map<std::string, NameUnit, std::less<>> kUnits = {{"ttft", {Dimension::time}},
                                                             {"tpot", {Dimension::time}},
                                                             {"rate", {Dimension::rate}},
                                                             {"mean_w", {Dimension::power}},
                                                             {"joules", {Dimension::energy}},
                                                             {"tokens_per_joule", {Dimension::per_energy, true}},
                                                             {"attained", {Dimension::number, false, true}},
                                                             {"count", {}}};

std::string mistakes_in(std::string_view text) {
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  REQUIRE(expression);
  expression->check_units(
      [](std::string_view name) {
        const auto found = kUnits.find(name);
        return found == kUnits.end() ? std::nullopt : std::optional(found->second);
      },
      diagnostics);
  return diagnostics.has_errors()
             ? diagnostics.sorted().front().message + " | " + diagnostics.sorted().front().suggestion + " | " +
                   std::to_string(diagnostics.sorted().front().where.column)
             : "";
}

}  // namespace

TEST_CASE("a bare number beside what has a unit is a mistake that shows how it is written") {
  CHECK(mistakes_in("ttft <= 200") == "'200' needs a unit, for example 200 ms; 'ttft' is in units of time |  | 9");
  CHECK(mistakes_in("200 >= ttft") == "'200' needs a unit, for example 200 ms; 'ttft' is in units of time |  | 1");
  CHECK(mistakes_in("count > 1 or not (rate > 10)") ==
        "'10' needs a unit, for example 10 /s or 10 /h; 'rate' is in units of rate |  | 26");
  CHECK(mistakes_in("ttft - 0.2 <= tpot") ==
        "'0.2' needs a unit, for example 0.2 ms; 'ttft' is in units of time |  | 8");
  CHECK(mistakes_in("max(ttft, tpot) * 2 <= 3") == "'3' needs a unit, for example 3 ms |  | 24");
  CHECK(mistakes_in("1 / tpot >= 20") == "'20' needs a unit, for example 20 /s or 20 /h |  | 13");
}

TEST_CASE("a quantity of another kind is a mistake as well") {
  CHECK(mistakes_in("ttft <= 200 J") ==
        "'200 J' has a unit of energy where time is due; 'ttft' is in units of time |  | 9");
  CHECK(mistakes_in("rate >= 100 ms") ==
        "'100 ms' has a unit of time where rate is due; 'rate' is in units of rate |  | 9");
  CHECK(mistakes_in("ttft <= 40%").starts_with("'40%' has the unknown unit '%'; time is written like 200 ms"));
  CHECK(mistakes_in("count <= 5 W") ==
        "'5 W' has a unit of power where a plain number is due; 'count' is a plain number |  | 10");
  CHECK(mistakes_in("ttft <= mean_w") == "'mean_w' is in power where time is due; 'ttft' is in units of time |  | 9");
}

TEST_CASE("0, products in the right unit, names that say their unit and what is not known are taken") {
  for (const char* text :
       {"ttft > 0", "ttft <= 200 ms", "2 * ttft < 0.1 s", "1 / tpot >= 20 /s", "joules / ttft <= 700 W",
        "ttft / tpot < 30", "joules * tokens_per_joule > 5", "tokens_per_joule >= 2", "tokens_per_joule >= 2 /J",
        "unheard <= 200", "unheard <= 200 ms", "log(ttft) < 3", "ttft * ttft < 9", "count == 4", "device == h100"})
    CHECK_MESSAGE(mistakes_in(text).empty(), text);
}

TEST_CASE("a share above the whole is a mistake") {
  CHECK(mistakes_in("attained >= 99") ==
        "'99' is more than the whole: 'attained' is a share, from 0 to 1 | did you mean '99 %'? | 13");
  CHECK_FALSE(mistakes_in("150 % <= attained").empty());
  for (const char* text : {"attained >= 99 %", "attained >= 0.99", "attained == 1", "attained * 100 >= 99"})
    CHECK_MESSAGE(mistakes_in(text).empty(), text);
}

}  // namespace llmscape
