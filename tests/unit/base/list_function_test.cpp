// SPDX-License-Identifier: Apache-2.0
#include "base/functions.hpp"

#include <doctest/doctest.h>

#include "base/expression.hpp"

using namespace llmscape;

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
  // (1, 4), (2, 3), (4, 1), (3, 2): one falls by what the other rises.
  CHECK(std::get<double>(*value("pearson(list(a, b), list(b, a))")) == doctest::Approx(-1));
}
