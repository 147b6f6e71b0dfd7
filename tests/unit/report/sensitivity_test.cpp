// SPDX-License-Identifier: Apache-2.0
// How effects of hardware figures are printed.
#include "sim/report/sensitivity.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/result/metric_table.hpp"
#include "tests/support/approx.hpp"

namespace sensitivity_test {

using namespace llmscape;
using explore::Sensitivity;
using llmscape::testing::approx;

namespace {

Sensitivity two_parameters() {
  Sensitivity s;
  s.metrics = {metrics::find_column("tpot.mean")};
  s.base = {0.02};
  s.verdict = "valid";
  s.parameters = {
      {{"hardware.devices[edge].memory_bandwidth", "", "3.35 TB/s", 3.35e12, {}}, {{1. / 9, -1. / 11}}, "", ""},
      {{"hardware.devices[edge].tdp", "", "700 W", 700, {}}, {{0.0, 0.0}}, "", ""},
      {{"hardware.devices[edge].memory_efficiency", "", "1", 1, {}}, {{0.05, std::nullopt}}, "", "must be at most 1"},
  };
  return s;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("the table has the effect of more, the picture both sides, the longest over its whole side") {
  const std::string text = report::to_text(two_parameters());
  CHECK(has(text, "\nmemory_bandwidth "));  // there is one group only
  CHECK(has(text, "-9.09"));
  CHECK(has(text, "11.11"));
  CHECK(has(text, "20.0 ms"));
  // Less of the bandwidth fills the 22 columns to the right, more of it 22 x (1/11) / (1/9) = 18 to the left; less of
  // the efficiency 22 x 0.05 x 9 = 10; one of each stands in the legend.
  CHECK(count_of(text, "░") == 1 + 22 + 10);
  CHECK(count_of(text, "█") == 1 + 18);
  CHECK(has(text, "no effect at all: tdp"));
  CHECK(has(text, "refused with 10 % more: must be at most 1 (memory_efficiency)"));
}

TEST_CASE("JSON and CSV have every parameter with its path as --set takes it, and shares") {
  const auto json = nlohmann::json::parse(report::to_json(two_parameters()));
  CHECK(json["schema"] == "sensitivity/1");
  CHECK(json["base"]["tpot_s.mean"] == 0.02);
  CHECK(json["parameters"][0]["path"] == "hardware.devices[edge].memory_bandwidth");
  CHECK(json["parameters"][0]["effects"]["tpot_s.mean"]["more"].get<double>() == approx(-1. / 11));
  CHECK(json["parameters"][2]["refused"]["more"] == "must be at most 1");
  const std::string csv = report::to_csv(two_parameters());
  CHECK(has(csv, "parameter,value,metric,base,less,more\n"));
  CHECK(has(csv, "hardware.devices[edge].tdp,700 W,tpot_s.mean,0.02,0,0\n"));
  CHECK(has(csv, "hardware.devices[edge].memory_efficiency,1,tpot_s.mean,0.02,0.05,\n"));
}

}  // namespace sensitivity_test
