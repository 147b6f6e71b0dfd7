// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/cli/scratch.hpp"

namespace llmscape::report {
namespace {

// The last word of a metric's row: who is better.
std::string better(const std::string& first, const std::string& second, const std::string& metric) {
  const llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  const auto file = [&](const char* name, const std::string& rest) {
    return scratch.file(name, R"({"schema": "run/1", "verdict": {"state": "valid"}, )" + rest + "}");
  };
  const auto text = compare(file("a.json", first), file("b.json", second), diagnostics);
  REQUIRE_MESSAGE(text, diagnostics.text(false));
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(metric + ' ')) {
      line.resize(line.find_last_not_of(' ') + 1);
      return line.substr(line.rfind(' ') + 1);
    }
  return "no row";
}

std::string carbon(const std::string& window, const std::string& grams) {
  return R"("window_s": )" + window + R"(, "cost": {"co2_g": )" + grams + '}';
}

std::string tpot(const std::string& mean, const std::string& deviation) {
  return R"("window_s": 10, "latency": {"tpot_s": {"mean": )" + mean + R"(, "std": )" + deviation + "}}";
}

}  // namespace

TEST_CASE("grams of carbon are a sum over the window: of unlike windows none is better") {
  CHECK(better(carbon("10", "5"), carbon("10", "6"), "co2_g") == "A");
  CHECK(better(carbon("10", "5"), carbon("20", "6"), "co2_g") == "1.200x");  // though less of it a second
}

TEST_CASE("what differs by rounding is the same, a deviation measured by its mean") {
  CHECK(better(tpot("0.02", "0"), tpot("0.020000000000001", "0"), "tpot_s.mean") == "same");
  CHECK(better(tpot("0.02", "0"), tpot("0.0200001", "0"), "tpot_s.mean") == "A");
  CHECK(better(tpot("0.02", "3e-18"), tpot("0.02", "7e-18"), "tpot_s.std") == "same");  // up to 1e-9 of 0.02
  CHECK(better(tpot("0.02", "1e-6"), tpot("0.02", "2e-6"), "tpot_s.std") == "A");
}

}  // namespace llmscape::report
