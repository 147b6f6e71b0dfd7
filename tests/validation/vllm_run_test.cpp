// SPDX-License-Identifier: Apache-2.0
// A measured vLLM 0.19 run (Llama-3.1-8B, RTX PRO 6000, 300 requests; casys-kaist/LLMServingSim @ 5daddb2) replayed.
// Nothing in the simulator was fitted to it: the catalogue's constants come from kernel tables.
#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

struct Measured {
  double ttft = 0, tpot = 0, e2e = 0, makespan = 0;
};

Measured measured(const std::string& path) {
  Measured mean;
  LineReader lines(path);
  int n = 0;
  double first = 0, last = 0;
  while (const auto line = lines.next()) {
    const auto row = nlohmann::json::parse(*line);
    const double queued = row["queued_ts"];
    const double first_token = row["first_token_ts"];
    const double last_token = row["last_token_ts"];
    const double output = row["output_toks"];
    mean.ttft += first_token - queued;
    mean.tpot += (last_token - first_token) / (output - 1);
    mean.e2e += last_token - queued;
    first = n == 0 ? queued : std::min(first, queued);
    last = std::max(last, last_token);
    ++n;
  }
  REQUIRE(n == 300);
  return {mean.ttft / n, mean.tpot / n, mean.e2e / n, last - first};
}

double error(double predicted, double seen) { return predicted / seen - 1; }

}  // namespace

TEST_CASE("a measured vLLM run: prefix hits exactly, steps within 2 %, times within what is reached so far") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const std::string folder = std::string(data) + "/measured/vllm_rtxpro6000_llama31_8b";
  const auto scenario = scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: rtx-pro-6000}]}\n"
      "serving: {batcher: {policy: vllm_v1, max_num_seqs: 128, max_num_batched_tokens: 2048}}\n"
      "workload: {replay: {trace: " +
      folder + "/workload.jsonl.gz}}\n");
  const run::RunResult result = run_on_event_queue(*scenario);
  const Measured seen = measured(folder + "/requests.jsonl");
  CHECK(result.tokens.reused == 19'520);  // as vLLM counted (engines.md 11)
  CHECK(static_cast<double>(result.steps) == doctest::Approx(2388).epsilon(0.02));
  const double tpot = error(result.tpot_s->mean, seen.tpot);
  const double e2e = error(result.e2e_s->mean, seen.e2e);
  const double ttft = error(result.ttft_s->mean, seen.ttft);
  const double makespan = error(result.simulated_s, seen.makespan);
  MESSAGE("errors of means: TPOT " << tpot << ", E2E " << e2e << ", TTFT " << ttft << ", makespan " << makespan);
  CHECK(std::abs(tpot) < 0.06);
  CHECK(std::abs(e2e) < 0.08);
  CHECK(std::abs(ttft) < 0.14);
  CHECK(std::abs(makespan) < 0.06);
}
