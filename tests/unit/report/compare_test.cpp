// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sstream>

#include "tests/cli/scratch.hpp"

namespace llmscape::report {
namespace {

// A metric's row.
std::string row_of(const std::string& first, const std::string& second, const std::string& metric) {
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
      return line;
    }
  return "no row";
}

// Its last word: who is better.
std::string better(const std::string& first, const std::string& second, const std::string& metric) {
  const std::string line = row_of(first, second, metric);
  return line.substr(line.rfind(' ') + 1);
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
  const auto whole = [](const std::string& window, const std::string& completed, const std::string& grams) {
    return R"("simulated_s": )" + window + R"(, "requests": {"completed": )" + completed + "}, " +
           carbon(window, grams);
  };
  CHECK(better(whole("10", "400", "5"), whole("20", "400", "6"), "co2_g") == "A");  // the same work
  CHECK(better(whole("10", "400", "5"), whole("20", "500", "6"), "co2_g") == "1.200x");
}

// A second with 31 ms at 700 W and the rest at 100 W: 700 W in slices of 1/32 s, 119 W in one of a second.
TEST_CASE("a peak of power is that of its slices: of unlike ones none is better") {
  const auto peak = [](const char* slice, const char* watts) {
    return fmt::format(R"("window_s": 10, "energy": {{"peak_w": {}, "peak_window_s": {}}})", watts, slice);
  };
  CHECK(better(peak("0.03125", "700"), peak("0.03125", "119"), "peak_w") == "B");
  CHECK(better(peak("0.03125", "700"), peak("1", "119"), "peak_w") == "0.170x");
}

TEST_CASE("what differs by rounding is the same, a deviation measured by its mean") {
  CHECK(better(tpot("0.02", "0"), tpot("0.020000000000001", "0"), "tpot_s.mean") == "same");
  CHECK(better(tpot("0.02", "0"), tpot("0.0200001", "0"), "tpot_s.mean") == "A");
  CHECK(better(tpot("0.02", "3e-18"), tpot("0.02", "7e-18"), "tpot_s.std") == "same");  // up to 1e-9 of 0.02
  CHECK(better(tpot("0.02", "1e-6"), tpot("0.02", "2e-6"), "tpot_s.std") == "A");
}

TEST_CASE("counters grow with a run: none is better where windows and requests differ") {
  const auto run = [](const char* window, const char* requests, const char* preemptions) {
    return fmt::format(R"("window_s": {}, "requests": {{"injected": {}}}, "kv": {{"preemptions": {}}})", window,
                       requests, preemptions);
  };
  CHECK(better(run("10", "100", "2"), run("20", "200", "4"), "preemptions") == "2.000x");  // as many a second
  CHECK(better(run("10", "100", "2"), run("10", "100", "4"), "preemptions") == "A");
  CHECK(better(run("10", "100", "2"), run("12", "100", "4"), "preemptions") == "A");  // the same work, slower
  CHECK(better(run("10", "100", "2"), run("10", "120", "4"), "preemptions") == "A");  // as long
  const auto turns = [](const char* window, const char* loading) {
    return fmt::format(R"("window_s": {}, "turns": {{"model_load_s": {}}})", window, loading);
  };
  CHECK(better(turns("10", "2"), turns("10", "4"), "model_load_s") == "A");
  CHECK(better(turns("10", "2"), turns("20", "4"), "model_load_s") == "2.000x");
}

TEST_CASE("joules and money that are unlike have no better side") {
  const auto energy = [](const char* boundary, const char* joules) {
    return fmt::format(R"("window_s": 10, "energy": {{"boundary": "{}", "joules_per_request": {}, "mean_w": 700}})",
                       boundary, joules);
  };
  CHECK(better(energy("board", "5"), energy("board", "6"), "joules_per_request") == "A");
  CHECK(better(energy("chip", "5"), energy("board", "6"), "joules_per_request") == "1.200x");
  const auto cost = [](const char* currency, const char* amount) {
    return fmt::format(R"("window_s": 10, "cost": {{"currency": "{}", "capital": {}}})", currency, amount);
  };
  CHECK(better(cost("EUR", "5"), cost("EUR", "6"), "capital") == "A");
  CHECK(better(cost("EUR", "5"), cost("JPY", "6"), "capital") == "1.200x");
}

TEST_CASE("numbers have units, amounts the currency of their side") {
  const std::string power = R"("window_s": 10, "energy": {"boundary": "board", "mean_w": 700})";
  CHECK(row_of(power, power, "mean_w").find("700 W  ") != std::string::npos);
  const std::string eur = R"("window_s": 10, "cost": {"currency": "EUR", "capital": 30000})";
  const std::string jpy = R"("window_s": 10, "cost": {"currency": "JPY", "capital": 60000})";
  const std::string row = row_of(eur, jpy, "capital");
  CHECK(row.find("30,000 EUR") != std::string::npos);
  CHECK(row.find("60,000 JPY") != std::string::npos);
}

}  // namespace llmscape::report
