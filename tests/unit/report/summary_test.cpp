// SPDX-License-Identifier: Apache-2.0
#include "sim/report/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace llmscape::report {
namespace {

using State = metrics::Verdict::State;

result::RunResult full_result() {
  result::RunResult r;
  r.model = "llama-3.1-8b";
  r.hardware = "4 x h100-sxm";
  r.requests.injected = r.requests.completed = 13'653;
  r.simulated_s = 3501.2;
  r.window_s = 3501.2;
  for (const char* key : {"ttft_s", "e2e_s"})
    r.latency.set(key, result::Percentiles{13'653, 0.0452, 0.03, 0.04, 0.09, 0.1, 0.189, 0.3, true});
  for (const char* key : {"tpot_s", "itl_s"})
    r.latency.set(key, result::Percentiles{13'653, 0.00947, 0.001, 0.009, 0.011, 0.012, 0.0147, 0.02, true});
  r.throughput = {3.9, 823.4, 5301.7, 205.85, 1 / 0.00947, 3.86, 0.991, 4.1, 0};
  r.kv = {111'404, 0.345, 12, 0.988};
  result::EnergyResult& energy = r.energy.emplace();
  energy.joules = {{"compute", 100}, {"memory", 200}, {"on_chip", 5}, {"static", 95}};
  energy.total_joules = 400;
  energy.joules_per_output_token = 0.17;
  energy.mean_w = 1347;
  energy.peak_w = 1900;
  energy.peak_window_s = 1;
  energy.idle_share = 0.2375;
  r.steps = 100;
  r.mean_batch = 18.7;
  r.time_share = {{"gemm", 0.76}, {"prefill_attention", 0.014}, {"decode_attention", 0.147}, {"elementwise", 0.079}};
  r.provenance = {0, 0.92, 0.05, 0, 0.03};
  return r;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) longest = std::max(longest, line.size());
  return longest;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a good run is told in fourteen lines of at most 100 columns") {
  const std::string text = summary(full_result(), false);
  CHECK(lines(text) == 14);
  CHECK(longest_line(text) <= 100);
  CHECK(
      text.starts_with("llama-3.1-8b on 4 x h100-sxm: valid; 13,653 of 13,653 requests completed, 3501 s simulated\n"));
  CHECK(holds(text, "\n  TTFT        45.2 ms    40.0 ms    90.0 ms     189 ms\n"));
  CHECK(holds(text, "1,347 W (peak 1,900 W)"));
  CHECK(holds(text, "memory 50.0 %, compute 25.0 %, static 23.8 %"));
  CHECK(holds(text, "gemm 76.0 %, decode attention 14.7 %, elementwise 7.9 % of step time; batch 18.7"));
  CHECK(holds(text, "fitted 92.0 %, datasheet 5.0 %, assumed 3.0 %"));
}

TEST_CASE("a run that is not valid says so first, why, and in grey") {
  result::RunResult result = full_result();
  result.verdict = {State::saturated,
                    {std::string("unanswered calls grew by 812 while requests arrived (mean 600): the load is ") +
                     "above what the system serves; lower the rate or add devices"}};
  const std::string text = summary(result, false);
  CHECK(text.starts_with(
      "llama-3.1-8b on 4 x h100-sxm: NOT VALID, saturated\n            13,653 of 13,653 requests completed"));
  CHECK(holds(text, "\nbecause     unanswered calls grew"));
  CHECK(longest_line(text) <= 100);
  CHECK(holds(summary(result, true), "\x1b[2m"));
  CHECK_FALSE(holds(summary(full_result(), true), "\x1b[2m"));
}

TEST_CASE("requests that were not completed are accounted for") {
  result::RunResult result = full_result();
  result.requests.cancelled = 3;
  result.requests.timed_out = 1;
  result.requests.running = 2;
  CHECK(holds(summary(result, false), "not done    3 cancelled by their users, 1 timed out, 2 still open\n"));
}

TEST_CASE("parts of devices and money have a line each where they are known") {
  result::RunResult result = full_result();
  result.utilisation = {{"edge", 0.5, {{"arithmetic", 0.01, 0.02}, {"memory", 0.465, 0.93}}}, {"gpu", 0.25, {}}};
  result::CostResult cost;
  cost.currency = "USD";
  cost.total = 4;
  cost.per_million_output_tokens = 1.111;
  cost.co2_g = 12;
  result.cost = cost;
  const std::string text = summary(result, false);
  CHECK(holds(text, "\nin use      edge: 50.0 % of the time; of that memory 93.0 %, arithmetic 2.0 %\n"));
  CHECK(holds(text, "\nin use      gpu: 25.0 % of the time\n"));
  CHECK(holds(text, "\ncost        4.00 USD, 1.11 USD per million output tokens; 12.0 g CO2\n"));
  CHECK(longest_line(text) <= 100);
  // 1.111 / 0.18; a hundredth more is told nowhere.
  result.cost->per_million_answered_tokens = 6.17;
  CHECK(holds(summary(result, false),
              "4.00 USD, 1.11 USD per million output tokens (6.17 by those of answered calls); "));
  result.cost->per_million_answered_tokens = 1.12;
  CHECK_FALSE(holds(summary(result, false), "answered calls"));
  cost = *result.cost;
  cost.co2_g_per_million_output_tokens = 3.333;
  cost.co2_g_per_million_answered_tokens = 18.5;  // 3.333 / 0.18
  cost.total.reset();
  result.cost = cost;
  CHECK(holds(summary(result, false),
              "\ncost        12.0 g CO2, 3.33 g per million output tokens (18.5 by those of answered calls)\n"));
}

TEST_CASE("a run in which nothing happened is told, too") {
  result::RunResult result;
  result.verdict = {State::truncated, {"no request was completed in the measured window"}};
  const std::string text = summary(result, false);
  CHECK(holds(text, "NOT VALID, truncated"));
  CHECK_FALSE(holds(text, "TTFT"));
  CHECK_FALSE(holds(text, "throughput"));
}

}  // namespace llmscape::report
