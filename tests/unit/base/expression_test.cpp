// SPDX-License-Identifier: Apache-2.0
#include "base/expression.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace llmscape {
namespace {

const std::map<std::string, Value, std::less<>> kValues = {{"rate", 32.},
                                                           {"hardware.devices[edge-1].count", 4.},
                                                           {"ttft.p99", 0.19},
                                                           {"device", std::string("h100-sxm")},
                                                           {"cached", true}};

std::optional<Value> known(std::string_view name) {
  const auto found = kValues.find(name);
  return found == kValues.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Value> computed(std::string_view text) {
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  CAPTURE(diagnostics.text(false));
  REQUIRE(expression);
  return expression->evaluate(known);
}

std::string mistake_in(std::string_view text) {
  Diagnostics diagnostics;
  CHECK_FALSE(Expression::parse(text, {}, diagnostics));
  CHECK(diagnostics.errors() == 1);
  return diagnostics.text(false);
}

}  // namespace

TEST_CASE("arithmetic binds as everybody expects") {
  CHECK(computed("1 + 2 * 3") == Value(7.));
  CHECK(computed("(1 + 2) * 3 - 4 / 2 / 2") == Value(8.));
  CHECK(computed("-2 * -3") == Value(6.));
  CHECK(computed("10 - 4 - 3") == Value(3.));
  CHECK(computed("1e3 + 1_000 + 2.5e-1") == Value(2000.25));
}

TEST_CASE("numbers may have a unit, and are then in SI units") {
  CHECK(computed("200ms") == Value(0.2));
  CHECK(computed("200 ms + 1 s") == Value(1.2));
  CHECK(computed("80 GiB") == Value(80. * 1073741824));
  CHECK(computed("rate / (3600 /h)") == Value(32.));
  CHECK(computed("10%") == Value(0.1));
  CHECK(computed("6/rate") == Value(0.1875));
}

// 0.1 + 0.2 is 0.3 and 5.6e-17 more.
TEST_CASE("what meets a limit to rounding meets it, and is not beyond it") {
  for (const char* holds : {"0.1 + 0.2 <= 0.3", "0.3 >= 0.1 + 0.2", "-0.3 >= -0.1 - 0.2", "0 <= 0"})
    CHECK_MESSAGE(computed(holds) == Value(true), holds);
  for (const char* fails : {"0.1 + 0.2 > 0.3", "0.3 < 0.1 + 0.2", "0.30000001 <= 0.3", "1e-30 <= 0"})
    CHECK_MESSAGE(computed(fails) == Value(false), fails);
  // 2^30 = 1,073,741,824: a billionth of it is more than the next whole number is off.
  for (const char* exact : {"1000000000 < 1000000001", "1073741825 > 1073741824", "1073741824 * 2 <= 2147483648"})
    CHECK_MESSAGE(computed(exact) == Value(true), exact);
  for (const char* beyond : {"1000000001 <= 1000000000", "1073741824 >= 1073741825"})
    CHECK_MESSAGE(computed(beyond) == Value(false), beyond);
}

TEST_CASE("conditions, with and before or, and not before both") {
  CHECK(computed("rate > 32 /s or ttft.p99 <= 200ms and cached") == Value(true));
  CHECK(computed("not cached or rate == 32") == Value(true));
  CHECK(computed("not (cached or rate == 32)") == Value(false));
  CHECK(computed("rate >= 32, ttft.p99 > 200 ms") == Value(false));
  CHECK(computed("hardware.devices[edge-1].count * 2 != 8") == Value(false));
}

TEST_CASE("text is quoted, or bare where it is compared") {
  CHECK(computed("device == 'h100-sxm'") == Value(true));
  CHECK(computed("device == h100-sxm") == Value(true));
  CHECK(computed("device != l4") == Value(true));
  CHECK(computed("l4 == device") == Value(false));
  CHECK(computed("'it''s' == \"it's\"") == Value(true));  // a quote within stands twice
  CHECK(computed(R"("say ""a""" == 'say "a"')") == Value(true));
  CHECK(computed("'' == \"\"") == Value(true));
  CHECK(mistake_in("device == 'it''").find("has no end") != std::string::npos);
}

TEST_CASE("what has no value is no truth, unless the other side decides") {
  CHECK_FALSE(computed("missing > 1").has_value());
  CHECK_FALSE(computed("device + 1").has_value());
  CHECK_FALSE(computed("1 / 0").has_value());
  CHECK_FALSE(computed("rate and cached").has_value());
  CHECK(computed("missing > 1 or cached") == Value(true));
  CHECK(computed("missing > 1 and not cached") == Value(false));
  Diagnostics diagnostics;
  CHECK_FALSE(Expression::parse("missing > 1", {}, diagnostics)->holds(known));
}

TEST_CASE("names are told with their place, so that unknown ones can be reported") {
  Diagnostics diagnostics;
  const SourceRange where{std::make_shared<const SourceText>(SourceText{"plan.yaml", ""}), 7, 5, 1};
  const auto expression = Expression::parse("rate > 1 and devise == l4", where, diagnostics);
  REQUIRE(expression);
  REQUIRE(expression->names().size() == 3);
  CHECK(expression->names()[0].name == "rate");
  CHECK_FALSE(expression->names()[0].may_be_text);
  CHECK(expression->names()[1].where.column == 5 + 13);
  CHECK(expression->names()[2].may_be_text);
}

TEST_CASE("letters of any language are those of names, and of words that they are compared with") {
  Diagnostics diagnostics;
  const auto expression = Expression::parse("größe == große and 模型 != 'x'", {}, diagnostics);
  REQUIRE_MESSAGE(expression, diagnostics.text(false));
  REQUIRE(expression->names().size() == 3);
  CHECK(expression->names()[0].name == "größe");
  CHECK(expression->names()[1].name == "große");
  CHECK(expression->names()[2].name == "模型");
}

TEST_CASE("a mistake is shown where it is") {
  CHECK(mistake_in("1 +").find("a value is missing here") != std::string::npos);
  CHECK(mistake_in("(rate > 1").find("')' is missing here") != std::string::npos);
  CHECK(mistake_in("rate = 1").find("use '=='") != std::string::npos);
  CHECK(mistake_in("rate > 1 cached").find("is not expected here") != std::string::npos);
  CHECK(mistake_in("'h100").find("has no end") != std::string::npos);
  CHECK(mistake_in("a[1 > 2").find("']' is missing") != std::string::npos);
  CHECK(mistake_in("and 1").find("a value is missing before 'and'") != std::string::npos);
  CHECK(mistake_in("?").find("is no value") != std::string::npos);
  CHECK(mistake_in("").find("a value is missing") != std::string::npos);
  CHECK(mistake_in(std::string(9'000, '(')).find("nested too deeply") != std::string::npos);
  CHECK(mistake_in(std::string(9'000, '-')).find("nested too deeply") != std::string::npos);
  CHECK(mistake_in(std::string(100'000, '1')).find("at most 10000 characters") != std::string::npos);
}

TEST_CASE("values of a configuration are read with their unit") {
  CHECK(value_of("200 ms") == Value(0.2));
  CHECK(value_of("8") == Value(8.));
  CHECK(value_of("2%") == Value(0.02));
  CHECK(value_of("true") == Value(true));
  CHECK(value_of("h100-sxm") == Value(std::string("h100-sxm")));
}

}  // namespace llmscape
