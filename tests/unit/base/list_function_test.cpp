// SPDX-License-Identifier: Apache-2.0
#include "base/functions.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/expression.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using llmscape::testing::approx;

TEST_CASE("lists are put together in their order, and correlated as one") {
  Diagnostics diagnostics;
  const auto value = [&](const char* text) {
    const auto expression = Expression::parse(text, {}, diagnostics);
    REQUIRE_MESSAGE(expression, diagnostics.text(false));
    return expression->evaluate([](std::string_view name) -> std::optional<Value> {
      if (name == "a") return Value(std::vector<double>{1, 2});
      if (name == "b") return Value(std::vector<double>{4, 3});
      return std::nullopt;
    });
  };
  CHECK(value("list(a, b, 9)") == Value(std::vector<double>{1, 2, 4, 3, 9}));
  CHECK(value("list(9, a)") == Value(std::vector<double>{9, 1, 2}));
  CHECK(value("sum(list(1, 2, 3))") == Value(6.));
  // (1, 4), (2, 3), (4, 1), (3, 2): one falls by what the other rises.
  CHECK(std::get<double>(*value("pearson(list(a, b), list(b, a))")) == approx(-1));
}

TEST_CASE("a function within a function is computed once, however deep") {
  std::string text = "x";
  for (int depth = 0; depth < 100; ++depth) text = "abs(" + text + ")";
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  REQUIRE(expression);
  int asked = 0;
  CHECK(expression->evaluate([&](std::string_view) {
    ++asked;
    return std::optional<Value>(-2.);
  }) == Value(2.));
  CHECK(asked == 1);
}
