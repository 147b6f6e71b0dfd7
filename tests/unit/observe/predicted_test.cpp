// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/predicted.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

constexpr const char* kScenario =
    "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
    "serving: {batcher: {policy: vllm_v1, max_num_seqs: 4}}\nwindow: {rule: whole}\n"
    "workload: {arrivals: {kind: closed_loop, users: 8}, requests: 40, stream: {kind: lengths, "
    "prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: 50}}}\n";

const validation::Comparison& of(const std::vector<validation::Comparison>& all, const std::string& metric) {
  const auto found = std::ranges::find(all, metric, &validation::Comparison::metric);
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("what a run left is predicted without error by the same run") {
  const auto scenario = testing::scenario_of(kScenario);
  Diagnostics diagnostics;
  const auto prediction = predict(*scenario, diagnostics);
  REQUIRE(prediction);
  REQUIRE(prediction->requests.size() == 40);
  const double end = prediction->steps.back().end;
  CHECK(prediction->steps.back().prompt_tokens == 40 * 500);
  CHECK(prediction->steps.back().output_tokens == approx(40 * 50));
  CHECK(value_at(*prediction, quantity::kOutputRate, 0, end) == approx(40 * 50 / end));
  CHECK(value_at(*prediction, quantity::kRunning, 0, end / 2) == 4);
  CHECK(value_at(*prediction, quantity::kWaiting, 0, end / 2) == 4);
  CHECK(value_at(*prediction, quantity::kPower, 0, end) == approx(prediction->result.energy->total_joules / end));

  Observed observed;
  for (const PredictedRequest& r : prediction->requests)
    observed.requests.push_back(
        {r.arrival, r.prompt_tokens, r.output_tokens, r.first_token - r.arrival, r.last_token - r.arrival});
  for (double at = 0.01; at < end; at += 0.01)
    for (const char* each : {quantity::kRunning, quantity::kKvUse, quantity::kPower})
      observed.courses[each]["0"].add(at, value_at(*prediction, each, at - 0.01, at));
  validation::Report report;
  compare(observed, *prediction, true, report);
  CHECK(of(report.comparisons, "tpot").count == 40);
  CHECK(*of(report.comparisons, "tpot").error("error_p95") < 1e-9);
  CHECK(*of(report.comparisons, "ttft").error("error_p95") < 1e-9);
  REQUIRE(report.courses.size() == 3);
  CHECK(report.courses[0].name == "kv_use_pct");
  for (const auto& course : report.courses) CHECK(course.rmse < 1e-6);
}

TEST_CASE("tokens of a second are all that engines emit: first ones, and drafts that were accepted") {
  const std::string drafts = "serving: {speculation: {tokens: 3, acceptance: 0.8}}\n";
  for (const std::string& serving : {std::string(), drafts})
    for (const int output : {2, 41}) {
      CAPTURE(serving);
      CAPTURE(output);
      // A call a second, each answered within it.
      const auto scenario = testing::scenario_of(
          "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n" + serving +
          "window: {rule: whole}\nworkload: {arrivals: {kind: periodic, rate: 1 /s}, requests: 20, stream: {kind: "
          "lengths, prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: " +
          std::to_string(output) + "}}}\n");
      Diagnostics diagnostics;
      const auto prediction = predict(*scenario, diagnostics);
      REQUIRE(prediction);
      const double first = prediction->requests.front().arrival;
      // How many drafts are accepted differs from call to call.
      CHECK(value_at(*prediction, quantity::kOutputRate, first, first + 10) == approx(output).epsilon(0.05));
      CHECK(prediction->steps.back().output_tokens == approx(20.0 * output));
    }
}

TEST_CASE("errors of figures and courses are those of the numbers") {
  const auto scenario = testing::scenario_of(kScenario);
  Diagnostics diagnostics;
  const auto prediction = predict(*scenario, diagnostics);
  REQUIRE(prediction);
  Observed observed;
  observed.numbers["tpot_s.mean"] = prediction->result.latency["tpot_s"]->mean / 2;
  const double at = prediction->steps.back().end / 2;
  observed.courses[quantity::kRunning]["0"].add(at, 1);
  validation::Report report;
  compare(observed, *prediction, false, report);
  CHECK(*of(report.comparisons, "tpot").error("mean") == approx(1));
  REQUIRE(report.courses.size() == 1);
  CHECK(report.courses[0].rmse == 3);
}

TEST_CASE("the pool of several replicas is all of theirs, and empty while none has requests") {
  // Eight calls at once of 1,600 tokens and 800 answered ones; two replicas of 2,000 blocks have four each.
  const std::string workload =
      "serving: {kv_blocks: 2000, router: round_robin, batcher: {policy: vllm_v1}}\nwindow: {rule: whole}\n"
      "workload: {arrivals: {kind: closed_loop, users: 8}, requests: 8, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 1600}, "
      "output: {kind: fixed, value: 800}}}\n";
  std::vector<double> used;
  for (const char* count : {"1", "2"}) {
    const auto scenario = testing::scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm, count: " +
        std::string(count) + "}]}\n" + workload);
    Diagnostics diagnostics;
    const auto prediction = predict(*scenario, diagnostics);
    REQUIRE(prediction);
    const double end = prediction->steps.back().end;
    used.push_back(value_at(*prediction, quantity::kKvUse, 0, end / 2));
    CHECK(value_at(*prediction, quantity::kKvUse, 0, end + 1) == 0);
  }
  // Half of the answers are there: eight times 2,000 tokens are 1,000 blocks of 16.
  CHECK(used[0] == approx(0.5).epsilon(0.05));
  CHECK(used[1] == approx(0.25).epsilon(0.05));
}

TEST_CASE("rates of a log that is silent while nothing runs are of its period") {
  Prediction prediction;
  // A step of 10 tokens a second, but for the minutes 1 to 5.
  for (int second = 1; second <= 360; ++second)
    if (second <= 60 || second > 300) prediction.steps.push_back({static_cast<double>(second), 0, 10.0});
  double tokens = 0;
  for (PredictedStep& step : prediction.steps) step.output_tokens = tokens += step.output_tokens;
  prediction.requests = {{0, 1, 1, 0, 0, 1, 360}};
  Observed observed;
  observed.log_period = 10;
  for (int at = 10; at <= 360; at += 10)
    if (at <= 60 || at > 300) observed.courses[quantity::kOutputRate]["0"].add(at, 10);
  validation::Report report;
  compare(observed, prediction, false, report);
  REQUIRE(report.courses.size() == 1);
  CHECK(report.courses[0].count == 12);
  CHECK(report.courses[0].rmse < 1e-9);
}

TEST_CASE("files of another machine, or of calls that share what the simulation's cannot, are told") {
  const Served one{1, 1}, ranks{1, 4, 4}, fleet{3, 3, 1, true};
  CHECK(apart({1, 1, 1}, one, 0.0, 0.0).empty());
  CHECK(apart({}, one, std::nullopt, std::nullopt).empty());
  CHECK(apart({4, 4, 4}, ranks, 0.5, 0.5).empty());
  CHECK(apart({2, 1, 1}, one, std::nullopt, std::nullopt).empty());  // the other one rested
  CHECK(apart({2, 2, 0}, fleet, std::nullopt, std::nullopt).empty());
  CHECK(apart({2, 2, 1}, one, 0.0, 0.0).at(0) == "2 engines are in the files, and 1 replicas in the scenario");
  CHECK(apart({1, 1, 2}, Served{2, 2}, 0.0, 0.0).size() == 1);
  CHECK(apart({1, 1, 8}, one, 0.0, 0.0).at(0).starts_with("the power of 8 devices was read"));
  CHECK(apart({1, 1, 1}, one, 0.958, 0.0).at(0).starts_with("96 % of the prompt tokens"));
}

}  // namespace llmscape::observe
