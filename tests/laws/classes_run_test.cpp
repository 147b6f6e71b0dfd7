// SPDX-License-Identifier: Apache-2.0
// Classes of a mixture: each as if alone where nobody waits, and together the whole.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string part(const std::string& name, int weight, int prompt, int output) {
  return fmt::format(
      "{{weight: {}, slo_class: {}, stream: {{kind: lengths, prompt: {{kind: fixed, value: {}}}, "
      "output: {{kind: fixed, value: {}}}}}}}",
      weight, name, prompt, output);
}

const std::string kShort = part("short", 3, 100, 20), kLong = part("long", 1, 4000, 5);

std::string mixture(const std::string& parts, const std::string& rate, const std::string& more = "") {
  return fmt::format(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {{devices: [{{name: gpu, preset: h100-sxm}}]}}\n"
      "slo: {{classes: {{short: {{ttft: 40 ms}}, long: {{ttft: 200 ms}}, unused: {{ttft: 1 s}}}}}}\n"
      "workload: {{arrivals: {{kind: poisson, rate: {}}}, requests: 600, mixture: [{}]{}}}\n",
      rate, parts, more);
}

const result::ClassResult& of(const result::RunResult& run, const std::string& name) {
  for (const result::ClassResult& one : run.classes)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("where nobody waits each class of a mixture has the times that it has alone") {
  const auto both = run_on_event_queue(*scenario_of(mixture(kShort + ", " + kLong, "0.01 /s")));
  REQUIRE(both.classes.size() == 2);  // nothing of the one that no request is of
  for (const auto& [name, stream] : {std::pair{"short", kShort}, {"long", kLong}}) {
    const auto alone = run_on_event_queue(*scenario_of(mixture(stream, "0.01 /s")));
    CHECK(alone.classes.empty());  // the figures of all are its own
    for (const char* metric : {"ttft_s", "tpot_s", "e2e_s"})
      CHECK(of(both, name).latency[metric]->p50 == approx(alone.latency[metric]->p50).epsilon(1e-9));
  }
  CHECK(of(both, "long").latency["ttft_s"]->p50 > 10 * of(both, "short").latency["ttft_s"]->p50);
}

TEST_CASE("classes add up to the whole run, their latencies to all latencies") {
  const auto run =
      run_on_event_queue(*scenario_of(mixture(kShort + ", " + kLong, "12 /s", ", warmup: 5 s, timeout: 400 ms")));
  REQUIRE(run.classes.size() == 2);
  REQUIRE(run.requests.timed_out > 0);
  result::Throughput sum;
  double ended = 0, met = 0, ttft = 0, completed = 0, offered = 0, goodput = 0;
  for (const result::ClassResult& one : run.classes) {
    sum.requests_per_s += one.throughput.requests_per_s;
    sum.output_tokens_per_s += one.throughput.output_tokens_per_s;
    sum.total_tokens_per_s += one.throughput.total_tokens_per_s;
    offered += *one.throughput.offered_requests_per_s;
    goodput += *one.throughput.goodput_rps;
    ended += static_cast<double>(one.ended);
    met += *one.throughput.slo_attainment * static_cast<double>(one.ended);
    const result::Percentiles& times = *one.latency["ttft_s"];
    CHECK(times.count == one.completed);
    completed += static_cast<double>(times.count);
    ttft += times.mean * static_cast<double>(times.count);
  }
  CHECK(sum.requests_per_s == approx(run.throughput.requests_per_s));
  CHECK(sum.output_tokens_per_s == approx(run.throughput.output_tokens_per_s));
  CHECK(sum.total_tokens_per_s == approx(run.throughput.total_tokens_per_s));
  CHECK(offered == approx(*run.throughput.offered_requests_per_s));
  CHECK(goodput == approx(*run.throughput.goodput_rps));
  CHECK(met / ended == approx(*run.throughput.slo_attainment));
  CHECK(ttft / completed == approx(run.latency["ttft_s"]->mean));
  CHECK(of(run, "long").throughput.slo_attainment != of(run, "short").throughput.slo_attainment);
}

TEST_CASE("limits that judge no call, and calls that no limit judges, are told") {
  const auto warnings = [](const std::string& slo, const std::string& parts) {
    std::string all;
    const std::string yaml = fmt::format(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {{devices: [{{name: gpu, preset: h100-sxm}}]}}\n"
        "slo: {}\nworkload: {{arrivals: {{kind: burst, programs: 60}}, mixture: [{}]}}\n",
        slo, parts);
    for (const std::string& one : run_on_event_queue(*scenario_of(yaml)).warnings) all += one + '\n';
    return all;
  };
  const std::string plain =
      "{stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 20}}}";
  const std::string both = "{classes: {short: {ttft: 1 ms}, long: {ttft: 1 s}}}";
  CHECK(
      testing::holds(warnings(both, kShort + ", " + kLong + ", " + plain), "calls without an SLO class are all good"));
  CHECK(testing::holds(warnings("{ttft: 1 ms, classes: {short: {e2e: 100 s}}}", kShort),
                       "the limits of 'slo' itself judge no call"));
  CHECK(testing::holds(warnings(both, kShort), "no measured call is of class 'long'"));
  CHECK_FALSE(testing::holds(warnings(both, kShort + ", " + kLong), "judge"));
}
