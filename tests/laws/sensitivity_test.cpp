// SPDX-License-Identifier: Apache-2.0
// What each figure of the hardware does to metrics, against closed forms.
#include "sim/explore/sensitivity.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "sim/report/sensitivity.hpp"
#include "sim/result/metric_table.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/round_device.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using explore::ParameterEffects;
using explore::Sensitivity;
using llmscape::testing::approx;
using llmscape::testing::round_device;
using llmscape::testing::scenario_of;

namespace {

constexpr double kMore = 1 / 1.1 - 1;  // of a time that goes with 1 / rate, where the rate is 10 % more
constexpr double kLess = 1 / 0.9 - 1;

explore::SensitivityOptions options(double change = 0.1) {
  explore::SensitivityOptions options;
  options.change = change;
  for (const char* name : {"tpot.mean", "ttft.mean", "e2e.mean", "total_joules"})
    options.metrics.push_back(metrics::find_column(name));
  options.catalogs = testing::source_catalogs();
  options.jobs = 2;
  return options;
}

const ParameterEffects& row(const Sensitivity& sensitivity, const std::string& key) {
  const auto found = std::ranges::find(sensitivity.parameters, "hardware.devices[round]." + key,
                                       [](const ParameterEffects& p) { return p.parameter.path; });
  REQUIRE(found != sensitivity.parameters.end());
  return *found;
}

}  // namespace

TEST_CASE("where steps stream their weights, time per token goes with 1 / bandwidth, and with nothing else") {
  const Sensitivity result = explore::sensitivity(*scenario_of(round_device(16, 100)), options());
  const ParameterEffects& bandwidth = row(result, "memory_bandwidth");
  CHECK(*bandwidth.effects[0].more == approx(kMore).epsilon(1e-9));
  CHECK(*bandwidth.effects[0].less == approx(kLess).epsilon(1e-9));
  for (const char* key : {"memory_capacity", "idle_power", "compute_energy", "memory_energy", "tdp"}) {
    CAPTURE(key);
    for (const std::size_t latency : {0, 1, 2}) {
      CHECK(*row(result, key).effects[latency].more == 0);
      CHECK(*row(result, key).effects[latency].less == 0);
    }
  }
  CHECK(*row(result, "memory_energy").effects[3].more > 0);
  // The larger effect stands first.
  CHECK(result.parameters.front().largest() >= result.parameters.back().largest());
  CHECK(row(result, "memory_capacity").largest() == 0);
}

TEST_CASE("a share that is 1 cannot be made larger: refused, and the reason is kept") {
  const Sensitivity result = explore::sensitivity(*scenario_of(round_device(16, 100)), options());
  const ParameterEffects& efficiency = row(result, "memory_efficiency");
  CHECK(efficiency.more.find("at most 1") != std::string::npos);
  CHECK_FALSE(efficiency.effects[0].more);
  CHECK(efficiency.less.empty());
  CHECK(*efficiency.effects[0].less == approx(kLess).epsilon(1e-9));
}

TEST_CASE("without overheads the effects of all rates on the end to end sum to that of a device 10 % faster") {
  const Sensitivity result = explore::sensitivity(*scenario_of(round_device(4000, 100)), options());
  const double arithmetic = *row(result, "peak_bf16").effects[2].more;
  const double memory = *row(result, "memory_bandwidth").effects[2].more;
  CHECK(arithmetic < -0.01);
  CHECK(memory < -0.01);
  CHECK(arithmetic + memory == approx(kMore).epsilon(1e-6));
}

TEST_CASE("from 100 % on figures are only made larger: what if it were twice as fast") {
  const Sensitivity result = explore::sensitivity(*scenario_of(round_device(16, 100)), options(1.0));
  CHECK(*row(result, "memory_bandwidth").effects[0].more == approx(-0.5).epsilon(1e-9));
  CHECK_FALSE(row(result, "memory_bandwidth").effects[0].less);
}

TEST_CASE("the same numbers for any number of jobs, and only the parameters that were asked for") {
  const auto scenario = scenario_of(round_device(16, 20));
  explore::SensitivityOptions few = options();
  few.only = {"energy", "bandwidth"};
  few.jobs = 1;
  const Sensitivity one = explore::sensitivity(*scenario, few);
  few.jobs = 3;
  CHECK(one.parameters.size() == 3);
  CHECK(report::to_json(one) == report::to_json(explore::sensitivity(*scenario, few)));
}
