// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/observe/alignment.hpp"
#include "sim/observe/readers.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

// Of a table: its figures, and what was said of it.
std::pair<Observed, std::string> metered(const std::string& text) {
  const test::Scratch scratch;
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("x.csv", text), "power-csv", observed, diagnostics);
  align_courses(observed);
  return {observed, diagnostics.text(false)};
}

// Three seconds of two devices, of 300 and 500 W.
std::string two_devices(const std::string& column, const std::string& first, const std::string& second) {
  std::string text = "timestamp" + column + ", power.draw [W]\n";
  for (const char* second_of : {"0", "1", "2"})
    text += "2025/05/12 09:00:0" + std::string(second_of) + ".100" + first + ", 300.00 W\n2025/05/12 09:00:0" +
            second_of + ".101" + second + ", 500.00 W\n";
  return text;
}

}  // namespace

TEST_CASE("power: devices are known by whatever column names them, and an index comes first") {
  for (const auto& [column, first, second] :
       {std::tuple(", uuid", ", GPU-a", ", GPU-b"),
        std::tuple(", pci.bus_id", ", 00000000:01:00.0", ", 00000000:02:00.0"),
        std::tuple(", serial", ", 165", ", 166"), std::tuple(", uuid, index", ", GPU-a, 0", ", GPU-b, 1")}) {
    CAPTURE(std::string(column));
    const auto [observed, said] = metered(two_devices(column, first, second));
    CHECK(said == "");
    CHECK(figures(observed).at("mean_w") == approx(800));
  }
  CHECK(metered(two_devices(", uuid, index", ", GPU-a, 0", ", GPU-b, 1"))
            .first.courses.at(quantity::kPower)
            .contains("1"));
}

TEST_CASE("power: rows of several devices that no column tells apart are refused") {
  CHECK(metered(two_devices("", "", "")).second.find("rows come 2 at a time, and no column says which device each") !=
        std::string::npos);
  CHECK(metered("timestamp, power.draw [W]\n1, 3\n1, 5\n1, 5\n2, 3\n2, 5\n2, 5\n3, 3\n3, 5\n3, 5\n")
            .second.find("rows come 3 at a time") != std::string::npos);
  // One device whose sampler rested twice.
  std::string one = "timestamp, power.draw [W]\n";
  for (int i = 0; i < 30; ++i) one += std::to_string(i + (i < 5 ? 0 : i < 17 ? 100 : 200) + i % 3 / 10.0) + ", 300 W\n";
  CHECK(metered(one).second == "");
}

TEST_CASE("power: what a driver could not read is passed over") {
  const auto [observed, said] = metered(
      "timestamp, index, power.draw [W]\n2025/05/12 09:00:00, 0, 300 W\n2025/05/12 09:00:01, 0, [Unknown Error]\n"
      "2025/05/12 09:00:02, 0, 300 W\n");
  CHECK(said == "");
  CHECK(figures(observed).at("mean_w") == 300);
}

TEST_CASE("power: times since 1970 in milliseconds are no seconds") {
  // 100, 300 and 500 W a second apart.
  for (const char* unit : {"", "000", "000000", "000000000"}) {
    const auto [observed, said] = metered("timestamp,gpu,DCGM_FI_DEV_POWER_USAGE\n1762164000" + std::string(unit) +
                                          ",0,100\n1762164001" + unit + ",0,300\n1762164002" + unit + ",0,500\n");
    CHECK(said == "");
    const auto samples = observed.total(quantity::kPower);
    CHECK(samples[2].at - samples[0].at == approx(2));
  }
}

}  // namespace llmscape::observe
