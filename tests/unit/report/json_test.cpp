// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace llmscape::report {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a part that was not computed is absent, not zero") {
  const std::string empty = to_json({});
  for (const char* key : {"ttft_s", "throughput", "goodput_rps", "energy", "provenance"})
    CHECK_FALSE(holds(empty, key));
  run::RunResult result;
  result.ttft_s = run::Percentiles{1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, true};
  result.window_s = 2;
  result.steps = 1;
  const std::string text = to_json(result);
  CHECK(holds(text, "\"mean\": 0.5"));
  CHECK(holds(text, "\"requests_per_s\": 0.0"));
  CHECK(holds(text, "provenance"));
  CHECK_FALSE(holds(text, "goodput_rps"));
}

TEST_CASE("NaN and infinity never leave") {
  run::RunResult result;
  result.window_s = 1;
  result.throughput.goodput_rps = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(to_json(result), "the result '/throughput/goodput_rps' is not a finite number",
                       std::logic_error);
  result.throughput.goodput_rps = 1;
  result.simulated_s = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(to_json(result), std::logic_error);
}

}  // namespace llmscape::report
