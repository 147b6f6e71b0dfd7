// SPDX-License-Identifier: Apache-2.0
#include "sim/report/scatter.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace llmscape::report;

namespace {

Scatter two_groups() {
  return {{"ttft.p99", "s"},
          {"output_tokens_per_joule", "tokens/J"},
          {"cim", "l4"},
          {{0.01, 3, 0, true},
           {0.1, 8, 0, true},
           {1, 10, 0, true},
           {1, 9, 0, false},
           {0.02, 1, 1, true},
           {0.5, 2, 1, true},
           {1, 10, 1, false}}};
}

// Columns on the screen: all bytes but those that continue a character.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

TEST_CASE(
    "a scatter has a letter for each group, large on the frontier, and a log axis over more than a factor of 30") {
  // 10 ms to 1 s is a factor of 100, 1 to 10 tokens/J is not. The small b at (1 s, 10 tokens/J) lies under a large A.
  CHECK(scatter(two_groups(), false) ==
        R"(output_tokens_per_joule (tokens/J)
10 |                                                                                             A
   |
   |                                                                                             a
   |
 8 |                                                A
   |
   |
   |
 6 |
   |
   |
   |
 4 |
   |
   |  A
   |
 2 |                                                                               B
   |
   |                B
   +------------------------------------------------------------------------------------------------
    10 ms                                       100 ms                                         1 s
                                             ttft.p99, log
    A cim   B l4
)");
}

TEST_CASE("a scatter of one group has dots, and what stands out is never covered") {
  Scatter plot{{"x", ""}, {"y", "W"}, {""}, {{1, 1, 0, false}, {1, 1, 0, true}, {1, 1, 0, false}, {9, 9, 0, false}}};
  const std::string text = scatter(plot, false);
  CHECK(text.find("● on the frontier") != std::string::npos);
  CHECK(text.find(" |  ●\n") != std::string::npos);
}

TEST_CASE("ticks have as many digits as tell them apart") {
  const Scatter plot{{"x", ""}, {"y", "s"}, {""}, {{127.4, 1, 0, true}, {127.9, 2, 0, true}}};
  CHECK(scatter(plot, false).find("127.4              ") != std::string::npos);
  CHECK(scatter(plot, false).find("127.6") != std::string::npos);
}

TEST_CASE("values that differ by rounding are one value: an axis between them would have endlessly many ticks") {
  const double rent = 3. / 3600;
  const Scatter plot{{"x", ""}, {"y", "s"}, {""}, {{rent, 1, 0, true}, {std::nextafter(rent, 1), 2, 0, true}}};
  const Scatter equal{{"x", ""}, {"y", "s"}, {""}, {{rent, 1, 0, true}, {rent, 2, 0, true}}};
  CHECK(scatter(plot, false) == scatter(equal, false));
}

TEST_CASE("no scatter is wider than 100 columns or higher than 24 lines") {
  for (const std::size_t groups : {1, 3, 40}) {
    Scatter plot{{std::string(30, 'x'), "s"}, {"y", ""}, {}, {}};
    for (std::size_t i = 0; i < groups; ++i) {
      plot.groups.push_back("hardware number " + std::to_string(i));
      plot.points.push_back({1e-9 * static_cast<double>(i + 1), 1e12 * static_cast<double>(i), i, i % 2 == 0});
    }
    std::istringstream lines(scatter(plot, false));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(columns(line) <= 100);
    CHECK(count == 24);
  }
}

TEST_CASE("groups beyond the letters share a sign of their own") {
  Scatter plot{{"x", ""}, {"y", ""}, {}, {}};
  for (std::size_t i = 0; i < 29; ++i) {
    plot.groups.push_back(std::to_string(i));
    plot.points.push_back({static_cast<double>(i), static_cast<double>(i), i, i % 2 == 0});
  }
  const std::string text = scatter(plot, false);
  CHECK(text.find("Z 25   * 3 more groups") != std::string::npos);
  CHECK(std::ranges::count(text, '*') == 3);  // groups 26 and 28, and the legend
}

TEST_CASE("colour adds nothing but colour") {
  std::string text = scatter(two_groups(), true);
  for (std::size_t at = text.find('\033'); at != std::string::npos; at = text.find('\033'))
    text.erase(at, text.find('m', at) + 1 - at);
  CHECK(text == scatter(two_groups(), false));
  CHECK(scatter(two_groups(), true) != text);
}

TEST_CASE("no points, no picture") { CHECK(scatter({{"x", ""}, {"y", ""}, {}, {}}, false).empty()); }
