// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace_fit_page.hpp"
#include <doctest/doctest.h>
#include "sim/report/line_picture.hpp"

using namespace llmscape;
using namespace llmscape::report;

TEST_CASE("lines stand where their values are, on even axes from 0 and on axes of powers") {
  // An even axis ends 2 % beyond the largest value: x = 58 + 10 / 10.2 x 490 = 538.4, y = 214 - 1 / 1.02 x 188 = 29.7.
  const std::string even = svg_of({"t", "x", "y", false, false, {{"a", {0, 10}, {0, 1}}}});
  CHECK(even.find("class=\"line a\" d=\"M58.0 214.0L538.4 29.7\"") != std::string::npos);
  // One of powers goes from 1 / 1.1 to 100 x 1.1: 10 is in the middle, (58 + 548) / 2 = 303. A value of 0 is left out.
  const std::string powers = svg_of({"t", "x", "y", true, false, {{"a", {0, 1, 10, 100}, {1, 1, 1, 1}}}});
  CHECK(powers.find("L303.0 29.7L") != std::string::npos);
  CHECK(powers.find("d=\"M67.9 29.7") == std::string::npos);
  CHECK(powers.find("nan") == std::string::npos);
  // Steps hold a value until the next.
  const std::string steps = svg_of({"t", "x", "y", false, false, {{"b", {0, 5, 10}, {1, 0, 1}, true}}});
  CHECK(steps.find("d=\"M58.0 29.7L298.2 29.7L298.2 214.0L538.4 214.0L538.4 29.7\"") != std::string::npos);
}

TEST_CASE("the page of a fit has its figures and pictures, needs nothing else and runs nothing") {
  workloads::Recording recorded;
  for (int i = 0; i < 200; ++i)
    recorded.calls.push_back({2.0 * i, 100 + i, 10 + i % 7, {{1, 50}, {static_cast<ContentId>(i + 2), 50 + i}}, ""});
  recorded.duration = 400;
  Diagnostics diagnostics;
  const auto fitted = workloads::fit_workload(recorded, "a & b", diagnostics);
  REQUIRE(fitted);
  const workloads::FitScore score = workloads::score(*fitted, recorded, recorded, 3);
  const std::string page = trace_fit_page("a & b", {{"The whole trace", recorded, score}}, "llmscape 1");
  CHECK(page.find("<title>a &amp; b") != std::string::npos);
  for (const char* part :
       {"The whole trace", "200 calls in 400 s", "Prompt lengths", "Output lengths", "Calls in each minute",
        "Calls in each second", "Fano factor", "was there before", "<td>calls /s</td><td>0.5</td>"})
    CHECK_MESSAGE(page.find(part) != std::string::npos, part);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("http://") == std::string::npos);
  CHECK(page.find("https://") == std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
}
