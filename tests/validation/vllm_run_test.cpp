// SPDX-License-Identifier: Apache-2.0
// A measured vLLM 0.19 run (Llama-3.1-8B, RTX PRO 6000, 300 requests; casys-kaist/LLMServingSim @ 5daddb2) replayed.
// Nothing in the simulator was fitted to it but, where the test says so, one declared constant of the host.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "sim/scenario/replica_size.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/requests.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace vllm_run_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::scenario_of;

namespace {

std::string data_folder() {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (data && *data) return data;
  MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
  return "";
}

// What a prefill step of the run takes beyond the layer tables, host work that nothing hides: 3 to 6 ms at any length
// (steps of single prompts at low load).
constexpr const char* kPrefillStep = "4 ms";

// The same GPU by the times of its layers inside vLLM.
std::string measured_layers(const std::string& data, const std::string& per_prefill_step) {
  return "{kind: table, name: rtx-pro-6000-layers, tables: " + data +
         "/kernels/rtxpro6000, capacity: 95 GiB, runtime_reserve: 1 GB, idle_power: 35 W, busy_power: 600 W, "
         "links: {bandwidth: 40 GB/s, latency: 3 us}, "
         "host: {per_step: 126 us, per_request: 4 us, graph_launch: 10 us, per_kernel: 22 us, per_compiled_kernel: 5 "
         "us, per_prefill_step: " +
         per_prefill_step + "}}";
}

struct Outcome {
  result::RunResult result;
  std::vector<validation::Comparison> comparisons;
  std::vector<validation::Course> courses, logged;  // against the requests, and against the engine's own log
  [[nodiscard]] double error(const std::string& metric, const std::string& figure) const {
    for (const auto& comparison : comparisons)
      if (comparison.metric == metric) return comparison.error(figure).value();
    throw std::out_of_range(metric);
  }
};

Outcome replay(const std::string& data, const std::string& device) {
  const std::string folder = data + "/measured/vllm_rtxpro6000_llama31_8b";
  const auto scenario = scenario_of("schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [" + device +
                                    "]}\n"
                                    "serving: {batcher: {policy: vllm_v1, max_num_seqs: 128, "
                                    "max_num_batched_tokens: 2048}}\n"
                                    "workload: {replay: {trace: " +
                                    folder + "/workload.jsonl.gz}}\n");
  Diagnostics diagnostics;
  auto simulated = validation::simulate(*scenario, diagnostics);
  const auto measured = validation::read_request_times(folder + "/requests.jsonl", diagnostics);
  const auto log = validation::read_loads(folder + "/timeseries.csv", diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  Outcome outcome{std::move(simulated->result), {}, {}, {}};
  outcome.courses = validation::compare_loads(simulated->requests, validation::loads(*measured));
  outcome.logged = validation::compare_loads(simulated->requests, *log);
  auto comparisons = validation::compare_requests(std::move(simulated->requests), *measured, {}, diagnostics);
  REQUIRE_MESSAGE(comparisons, diagnostics.text(false));
  outcome.comparisons = std::move(*comparisons);
  MESSAGE(device.substr(0, 60) << ": errors of TPOT " << outcome.error("tpot", "mean") << ", E2E "
                               << outcome.error("e2e", "mean") << ", TTFT " << outcome.error("ttft", "mean")
                               << ", its median " << outcome.error("ttft", "p50") << ", makespan "
                               << outcome.error("makespan", "mean"));
  return outcome;
}

// As vLLM counted (engines.md 11).
void check_schedule(const result::RunResult& result) {
  CHECK(result.tokens.reused == 19'520);
  CHECK(static_cast<double>(result.steps) == approx(2388).epsilon(0.015));
}

void check_loads(const Outcome& outcome, double most) {
  for (const auto* courses : {&outcome.courses, &outcome.logged})
    for (const validation::Course& course : *courses) {
      CAPTURE(course.name);
      CHECK(course.rmse < most);
    }
}

}  // namespace

TEST_CASE("the catalogue's device takes as long as the layer tables for decodes of 128 sequences, within 3 %") {
  // Llama-3.1-8B by the tables of the run's card, over 1,024 and 2,048 cached tokens (embedding and last norm: 0.1 ms).
  const auto scenario = scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: rtx-pro-6000}]}\nworkload: {preset: "
      "chat-1k, requests: 1}\n");
  REQUIRE(scenario);
  const scenario::ServingConfig& serving = scenario->config.serving;
  const auto model = engine::bind(*scenario->config.hardware.devices.front(), scenario->model, serving.plan(),
                                  scenario::settings_of(serving));
  for (const auto& [cached, milliseconds] : {std::pair(1024, 25.3), std::pair(2048, 36.7)}) {
    const std::array attended = {models::Attended{128 * (cached + 1), cached + 1}};
    models::Batch batch;
    batch.decodes = 128;
    batch.attended = attended;
    CHECK(model->step(batch).device.si() == approx(milliseconds * 1e-3).epsilon(0.03));
  }
}

TEST_CASE("a measured vLLM run from layer tables alone: prefix hits, steps, and times within 4 %, median TTFT 8 %") {
  const std::string data = data_folder();
  if (data.empty()) return;
  const Outcome outcome = replay(data, measured_layers(data, "0 s"));
  check_schedule(outcome.result);
  CHECK(outcome.result.warnings.empty());
  CHECK(outcome.error("tpot", "mean") < 0.02);
  CHECK(outcome.error("makespan", "mean") < 0.02);
  CHECK(outcome.error("e2e", "mean") < 0.02);
  CHECK(outcome.error("ttft", "mean") < 0.04);
  CHECK(outcome.error("ttft", "p50") < 0.08);
  check_loads(outcome, 3.5);
}

TEST_CASE("a measured vLLM run from layer tables and one declared host constant: times within 1 %, TTFT within 3 %") {
  const std::string data = data_folder();
  if (data.empty()) return;
  const Outcome outcome = replay(data, measured_layers(data, kPrefillStep));
  check_schedule(outcome.result);
  CHECK(outcome.error("tpot", "mean") < 0.01);
  CHECK(outcome.error("makespan", "mean") < 0.01);
  CHECK(outcome.error("e2e", "mean") < 0.01);
  CHECK(outcome.error("ttft", "mean") < 0.02);
  CHECK(outcome.error("ttft", "p50") < 0.03);
  check_loads(outcome, 3);
}

TEST_CASE("a measured vLLM run on the catalogue's device, whose parameters were fitted to the same tables") {
  const std::string data = data_folder();
  if (data.empty()) return;
  const Outcome alone = replay(data, "{preset: rtx-pro-6000}");
  check_schedule(alone.result);
  CHECK(alone.error("tpot", "mean") < 0.03);
  CHECK(alone.error("makespan", "mean") < 0.03);
  CHECK(alone.error("e2e", "mean") < 0.04);
  CHECK(alone.error("ttft", "mean") < 0.08);
  CHECK(alone.error("ttft", "p50") < 0.1);
  check_loads(alone, 6);

  const Outcome with_constant =
      replay(data, std::string("{preset: rtx-pro-6000, host: {per_prefill_step: ") + kPrefillStep + "}}");
  check_schedule(with_constant.result);
  CHECK(with_constant.error("tpot", "mean") < 0.01);
  CHECK(with_constant.error("makespan", "mean") < 0.02);
  CHECK(with_constant.error("e2e", "mean") < 0.015);
  CHECK(with_constant.error("ttft", "mean") < 0.03);
  CHECK(with_constant.error("ttft", "p50") < 0.05);
  check_loads(with_constant, 3);
}

}  // namespace vllm_run_test
