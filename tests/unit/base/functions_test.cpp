// SPDX-License-Identifier: Apache-2.0
#include "base/functions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/expression.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::functions_test {
namespace {

using Numbers = std::vector<double>;

std::optional<Value> computed(std::string_view text) {
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  REQUIRE_MESSAGE(expression, diagnostics.text(false));
  return expression->evaluate([](std::string_view name) -> std::optional<Value> {
    if (name == "xs[].value") return Value(Numbers{1, 2, 4});
    if (name == "ys[].value") return Value(Numbers{10, 20, 90});
    if (name == "down[].value") return Value(Numbers{9, 5, 1});
    if (name == "flat[].value") return Value(Numbers{3, 3, 3});
    if (name == "back[].value") return Value(Numbers{1, 6, 4, 8});
    if (name == "four[].value") return Value(Numbers{1, 2, 3, 4});
    return std::nullopt;
  });
}

std::string mistake_in(std::string_view text) {
  Diagnostics diagnostics;
  CHECK_FALSE(Expression::parse(text, {}, diagnostics));
  return diagnostics.text(false);
}
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("functions of numbers") {
  CHECK(computed("abs(2 - 5) + sqrt(16)") == Value(7.));
  CHECK(computed("log(1)") == Value(0.));
  CHECK(computed("min(3, 1, 2) + max(3, 1, 2) * 10") == Value(31.));
  CHECK(computed("sum(1, 2, 3) / mean(1, 2, 3)") == Value(3.));
  CHECK(computed("median(9, 1, 2)") == Value(2.));
  CHECK(computed("median(9, 1, 2, 4)") == Value(3.));
  CHECK(computed("max(1, min(5, 3)) < 4 and abs(-1) == 1") == Value(true));
}

TEST_CASE("functions of lists, and arithmetic item by item") {
  CHECK(computed("sum(xs[].value)") == Value(7.));
  CHECK(computed("mean(xs[].value, 1)") == Value(2.));
  CHECK(computed("ys[].value / xs[].value") == Value(Numbers{10, 10, 22.5}));
  CHECK(computed("1 - xs[].value * 2") == Value(Numbers{-1, -3, -7}));
  CHECK(computed("-xs[].value") == Value(Numbers{-1, -2, -4}));
  CHECK(computed("max(abs(xs[].value - 3))") == Value(2.));
}

TEST_CASE("correlations") {
  CHECK(computed("spearman(xs[].value, ys[].value)") == Value(1.));
  CHECK(computed("spearman(xs[].value, down[].value)") == Value(-1.));
  CHECK(computed("pearson(xs[].value, 2 * xs[].value + 1)") == Value(1.));
  // Deviations (-4/3, -1/3, 5/3) and (-30, -20, 50): 130 / sqrt(14/3 * 3800).
  CHECK(std::get<double>(*computed("pearson(xs[].value, ys[].value)")) == approx(130 / std::sqrt(14. / 3 * 3800)));
}

TEST_CASE("a crossing is the largest x that is still on the near side of the level") {
  CHECK(computed("crossing(xs[].value, ys[].value, 15)") == Value(1.5));
  CHECK(computed("crossing(xs[].value, ys[].value, 55)") == Value(3.));
  CHECK(computed("crossing(xs[].value, down[].value, 3)") == Value(3.));
  CHECK_FALSE(computed("crossing(xs[].value, ys[].value, 100)"));             // never crossed: beyond 4
  CHECK_FALSE(computed("crossing(xs[].value, down[].value, 0)"));             // nor from above
  CHECK(computed("crossing(xs[].value, ys[].value, 90)") == Value(4.));       // reached by the last point
  CHECK(computed("crossing(xs[].value, ys[].value, 10)") == Value(1.));       // left at once
  CHECK(computed("crossing(four[].value, back[].value, 5)") == Value(3.25));  // crossed, and crossed again
}

TEST_CASE("a comparison of lists goes item by item, and all() says whether it holds everywhere") {
  CHECK(computed("xs[].value < 4") == Value(std::vector<bool>{true, true, false}));
  CHECK(computed("xs[].value < ys[].value") == Value(std::vector<bool>{true, true, true}));
  CHECK(computed("xs[].value == 2") == Value(std::vector<bool>{false, true, false}));
  CHECK(computed("all(xs[].value < 4)") == Value(false));
  CHECK(computed("all(xs[].value < 5)") == Value(true));
  CHECK(computed("all(xs[].value < 5, 1 < 2, ys[].value > xs[].value)") == Value(true));
  CHECK(computed("all(xs[].value < 5, 2 < 1)") == Value(false));
  CHECK(computed("all(xs[].value < 5) and not all(xs[].value > 1)") == Value(true));
  // One condition is asked for, and a list of them is none; nor is a number a condition.
  CHECK_FALSE(computed("xs[].value < 5 and 1 < 2"));
  CHECK_FALSE(computed("all(xs[].value)"));
  CHECK(holds(mistake_in("max(1 < 2)"), "')' is missing here"));
}

TEST_CASE("rising and falling are strict, over one list or several numbers") {
  CHECK(computed("rising(xs[].value)") == Value(true));
  CHECK(computed("rising(ys[].value / xs[].value)") == Value(false));  // 10, 10, 22.5
  CHECK(computed("rising(back[].value)") == Value(false));
  CHECK(computed("falling(down[].value)") == Value(true));
  CHECK(computed("falling(9, down[].value)") == Value(false));
  CHECK(computed("falling(3, 2, 1) and rising(1, 2)") == Value(true));
  CHECK_FALSE(computed("rising(1)"));
}

TEST_CASE("what cannot be computed has no value") {
  CHECK_FALSE(computed("sqrt(-1)"));
  CHECK_FALSE(computed("log(0)"));
  CHECK_FALSE(computed("pearson(xs[].value, flat[].value)"));
  CHECK_FALSE(computed("pearson(xs[].value, four[].value)"));
  CHECK_FALSE(computed("xs[].value + four[].value"));
  CHECK_FALSE(computed("xs[].value < four[].value"));
  CHECK_FALSE(computed("abs('text')"));
  CHECK_FALSE(computed("mean(unknown)"));
}

TEST_CASE("a wrong call says how it is written") {
  CHECK(holds(mistake_in("medain(1, 2)"), "there is no function 'medain'"));
  CHECK(holds(mistake_in("medain(1, 2)"), "did you mean 'median'?"));
  CHECK(holds(mistake_in("crossing(1, 2)"), "'crossing' is written crossing(xs, ys, level)"));
  CHECK(holds(mistake_in("abs(1"), "')' is missing here"));
  CHECK(holds(mistake_in("abs()"), "')' is no value"));
}

}  // namespace llmscape::functions_test
