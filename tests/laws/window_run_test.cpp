// SPDX-License-Identifier: Apache-2.0
// Which part of a run its figures are of, and whether they say something about the steady state.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;
using State = metrics::Verdict::State;

namespace {

constexpr const char* kChat =
    "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
    "serving: {batcher: {policy: vllm_v1, max_num_seqs: 256, max_num_batched_tokens: 8192}}\n"
    "workload: {preset: chat-1k, requests: 2000, arrivals: {kind: poisson, rate: 10 /s}}\n";

// 8 sequences at once, short answers: a queue that is quick to simulate.
std::string few(const std::string& arrivals, const std::string& requests, const std::string& extra = "") {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
         "serving: {batcher: {policy: vllm_v1, max_num_seqs: 8, max_num_batched_tokens: 2048}}\n"
         "workload: {arrivals: " +
         arrivals + ", requests: " + requests +
         ", stream: {kind: lengths, prompt: {kind: fixed, value: 200}, output: {kind: uniform, min: 16, max: 48}}}\n" +
         extra;
}

result::RunResult whole_run(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return run_on_event_queue(*scenario_of(yaml, overrides));
}

double joules_of(const result::EnergyResult& energy, const std::string& component) {
  for (const auto& [name, value] : energy.joules)
    if (name == component) return value;
  return 0;
}

// First and last tokens of all calls, in order.
struct Times : world::Watcher {
  std::vector<double> first, last;
  void on_request(const serving::Request& request, serving::Outcome, Seconds) override {
    first.push_back(request.first_token.si());
    last.push_back(request.last_token.si());
  }
  void on_step(int, Seconds, Seconds, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override {}
};

result::RunResult watched(const std::string& yaml, Times& times) {
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.watcher = &times;
  Diagnostics diagnostics;
  result::RunResult result = run::run_scenario(*scenario_of(yaml), options, diagnostics);
  std::ranges::sort(times.first);
  std::ranges::sort(times.last);
  return result;
}

}  // namespace

TEST_CASE("do rates, joules and power of a short run agree with those of a long one? The drain is not in them") {
  struct Mean {
    double requests = 0, offered = 0, joules = 0, watts = 0;
  };
  const auto mean = [](const std::string& requests, int seeds) {
    Mean sum;
    for (int seed = 1; seed <= seeds; ++seed) {
      const result::RunResult r = whole_run(kChat, {"workload.requests=" + requests, "seed=" + std::to_string(seed)});
      REQUIRE(r.window.rule == "steady");
      sum.requests += r.throughput.requests_per_s / seeds;
      sum.offered += *r.throughput.offered_requests_per_s / seeds;
      sum.joules += *r.energy->joules_per_output_token / seeds;
      sum.watts += r.energy->mean_w / seeds;
    }
    return sum;
  };
  const Mean longest = mean("10000", 2);
  CHECK(longest.requests == approx(longest.offered).epsilon(0.002));
  // So few calls as these are 10 /s by chance only: sqrt(1 / (100 x 20)) is 2.2 %, and their tokens vary more.
  // A run of 100 is over when the first long answers are: it has some 8 % more joules a token (60 seeds: 0.290 +-
  // 0.006).
  struct Short {
    const char* requests;
    int seeds;
    double joules;
  };
  for (const auto& [requests, seeds, joules] : {Short{"100", 20, 0.08}, {"300", 20, 0.06}, {"1000", 6, 0.06}}) {
    CAPTURE(requests);
    const Mean some = mean(requests, seeds);
    CHECK(some.requests == approx(10).epsilon(0.06));
    CHECK(some.joules == approx(longest.joules).epsilon(joules));
    CHECK(some.watts == approx(longest.watts).epsilon(0.06));
  }
}

TEST_CASE("what is in the window of calls that come one by one? All of them but the first and the last") {
  // A call each second, answered within it: the first end opens the window (nobody is open), the last start closes it.
  Times times;
  const result::RunResult r = watched(few("{kind: periodic, rate: 1 /s}", "60"), times);
  CHECK(r.window.from_s == times.last.front());
  CHECK(r.window.to_s == 60);
  const double length = 60 - times.last.front();
  CHECK(r.throughput.requests_per_s == approx(58 / length).epsilon(1e-12));
  CHECK(*r.throughput.offered_requests_per_s == approx(59 / length).epsilon(1e-12));
  CHECK(r.overall.throughput.requests_per_s == approx(60 / r.simulated_s).epsilon(1e-12));
  // Idle power for the length of it; all else is the joules of steps, of calls alike but for their answers.
  const double idle = joules_of(r.overall.energy, "static") / r.simulated_s;
  CHECK(joules_of(*r.energy, "static") == approx(idle * length).epsilon(1e-12));
  const double steps = r.energy->total_joules - idle * length;
  const double all_steps = r.overall.energy.total_joules - idle * r.simulated_s;
  CHECK(steps / all_steps == approx(58.0 / 60).epsilon(0.02));
  CHECK(r.energy->mean_w == approx(r.energy->total_joules / length).epsilon(1e-12));
}

TEST_CASE("calls that a window was offered are those that came in it, over its length, whether more come or not") {
  const std::string five = few("{kind: periodic, rate: 1 /s}", "5", "window: {rule: between, from: 0 s, to: 5.01 s}\n");
  const result::RunResult r = whole_run(five);
  REQUIRE(r.simulated_s > 5.01);
  CHECK(*r.throughput.offered_requests_per_s == approx(5 / 5.01).epsilon(1e-12));
  CHECK(*r.overall.throughput.offered_requests_per_s == approx(1).epsilon(1e-12));
}

TEST_CASE("windows that follow one another add up to the run, wherever their edges cut steps and answers") {
  const std::string yaml = few("{kind: poisson, rate: 25 /s}", "300", "seed: 5\n");
  const result::RunResult whole = whole_run(yaml + "window: {rule: whole}\n");
  CHECK(whole.window_s == whole.simulated_s);
  CHECK(whole.energy->total_joules == whole.overall.energy.total_joules);
  for (const char* cut : {"1 ms", "3.3337 s", "7.77 s", "12 s"}) {
    CAPTURE(cut);
    const result::RunResult before = whole_run(yaml + "window: {rule: between, from: 0 s, to: " + cut + "}\n");
    const result::RunResult after = whole_run(yaml + "window: {rule: between, from: " + cut + "}\n");
    const auto sum = [&](auto figure) { return figure(before) + figure(after); };
    const auto check = [&](auto figure) { CHECK(sum(figure) == approx(figure(whole)).epsilon(1e-9)); };
    check([](const auto& r) { return r.window_s; });
    check([](const auto& r) { return r.energy->total_joules; });
    check([](const auto& r) { return joules_of(*r.energy, "memory"); });
    check([](const auto& r) { return r.throughput.requests_per_s * r.window_s; });
    check([](const auto& r) { return r.throughput.output_tokens_per_s * r.window_s; });
    check([](const auto& r) { return r.energy->output_tokens_per_joule.value_or(0) * r.energy->total_joules; });
    check([](const auto& r) { return r.utilisation.empty() ? 0 : r.utilisation[0].busy * r.window_s; });
    CHECK(before.overall.energy.total_joules == whole.overall.energy.total_joules);
  }
}

TEST_CASE("a closed loop is measured until a user does not come back, a burst from end to end") {
  Times times;
  const result::RunResult loop = watched(few("{kind: closed_loop, users: 16}", "200"), times);
  CHECK(loop.window.rule == "steady");
  CHECK(loop.window.from_s == times.last[29]);      // 30 ends are twice the 15 that one end leaves open
  CHECK(loop.window.to_s == times.last[200 - 16]);  // the end after the one that 200th call waited for
  CHECK_FALSE(loop.throughput.offered_requests_per_s.has_value());
  CHECK(loop.verdict.state != State::saturated);

  const result::RunResult burst = whole_run(few("{kind: burst, programs: 400}", "400"));
  CHECK(burst.window.rule == "whole");
  CHECK(burst.window_s == burst.simulated_s);
  CHECK(burst.verdict.state == State::valid);
  CHECK(burst.throughput.requests_per_s == approx(400 / burst.simulated_s).epsilon(1e-12));
  CHECK_FALSE(burst.throughput.offered_requests_per_s.has_value());
}

TEST_CASE("ML.ENERGY's window goes from the n-th first token to the end of all but n") {
  Times times;
  const result::RunResult r =
      watched(few("{kind: burst, programs: 200}", "200", "window: {rule: full_batch, sequences: 8}\n"), times);
  CHECK(r.window.rule == "full_batch");
  CHECK(r.window.from_s == times.first[7]);
  CHECK(r.window.to_s == times.last[200 - 8 - 1]);
  CHECK(r.utilisation[0].busy == approx(1).epsilon(1e-9));
}

TEST_CASE("windows are the same bytes on both clocks, with steps planned ahead and without (INV-14)") {
  for (const char* extra : {"", "window: {rule: between, from: 2.5 s, to: 4.1 s}\n",
                            "window: {rule: full_batch, sequences: 8}\n", "horizon: 5.01 s\n"}) {
    CAPTURE(extra);
    const auto scenario = scenario_of(few("{kind: poisson, rate: 30 /s}", "300", extra),
                                      {"hardware.devices[0].count=2", "workload.warmup=1.7 s"});
    const std::string simgrid = json_on_simgrid(*scenario);
    CHECK(simgrid.size() > 1000);
    CHECK(simgrid == json_on_simgrid(*scenario, 0));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario)));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario, 0)));
  }
}

TEST_CASE("a window that the run does not have is a warning, one that says nothing a mistake") {
  const result::RunResult late =
      whole_run(few("{kind: poisson, rate: 10 /s}", "50", "window: {rule: between, from: 1 h}\n"));
  CHECK(late.window_s == late.simulated_s);
  CHECK(std::ranges::any_of(late.warnings, [](const std::string& w) { return holds(w, "no window"); }));
  const auto said = [](const std::string& window) {
    return mistakes(few("{kind: poisson, rate: 10 /s}", "50", "window: " + window + "\n"));
  };
  CHECK(holds(said("{from: 1 s}"), "have no effect without 'rule: between'"));
  CHECK(holds(said("{rule: between}"), "needs 'from', 'to' or both"));
  CHECK(holds(said("{rule: between, from: 2 s, to: 1 s}"), "'from' below 'to'"));
  CHECK(holds(said("{rule: full_batch}"), "needs 'sequences'"));
  CHECK(holds(said("{sequences: 4}"), "no effect without 'rule: full_batch'"));
  CHECK(holds(said("{rule: full_batch, sequences: 25}"), "more than twice 'sequences'"));
}

namespace {

// Runs of so many calls at so much of the capacity, and which of them are called what they are not.
int wrong_verdicts(const std::vector<double>& loads, const std::vector<int>& lengths, int seeds) {
  const double capacity = whole_run(few("{kind: closed_loop, users: 32}", "4000")).throughput.requests_per_s;
  int wrong = 0;
  for (const double load : loads)
    for (const int length : lengths)
      for (int seed = 1; seed <= seeds; ++seed) {
        const std::string rate = std::to_string(load * capacity);
        const result::RunResult r = whole_run(few("{kind: poisson, rate: " + rate + " /s}", std::to_string(length)),
                                              {"seed=" + std::to_string(seed)});
        // Too wide an interval of p99 is no word about the load, and says so.
        const bool imprecise = r.verdict.state == State::noisy;
        if (load < 1 ? r.verdict.state == State::valid || imprecise : r.verdict.state == State::saturated) continue;
        MESSAGE(load << " of the capacity, " << length << " calls, seed " << seed << ": "
                     << metrics::name_of(r.verdict.state));
        ++wrong;
      }
  return wrong;
}

}  // namespace

TEST_CASE("is an overload called one, and nothing else? Below 0.9 and above 1.1 of the capacity no verdict flips") {
  CHECK(wrong_verdicts({0.5, 0.9, 1.1, 1.4}, {1000, 2000, 4000}, 2) == 0);
}

TEST_CASE("ten lengths, ten loads, five seeds: no verdict flips" * doctest::skip()) {
  CHECK(wrong_verdicts({0.2, 0.4, 0.6, 0.8, 0.9, 1.1, 1.2, 1.4, 1.7, 2.5},
                       {1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10'000}, 5) == 0);
}

TEST_CASE("chat on an H100 at 30 /s, of which it serves 25, is saturated at any length") {
  for (const char* requests : {"1000", "2000", "4000"}) {
    const result::RunResult r =
        whole_run(kChat, {"workload.arrivals.rate=30 /s", std::string("workload.requests=") + requests});
    CAPTURE(requests);
    CHECK(r.verdict.state == State::saturated);
    CHECK(holds(r.verdict.reasons[0], "30 tasks/s were offered"));
    CHECK(r.throughput.requests_per_s < 0.95 * *r.throughput.offered_requests_per_s);
  }
}

TEST_CASE("a replay whose load rises and is served is valid: that it drains is no fault of it") {
  std::string trace;
  double at = 0;
  for (int i = 0; i < 1200; ++i) {  // from 4 to 24 calls a second
    at += 1 / (4 + 20 * i / 1200.0);
    trace += "{\"timestamp\": " + std::to_string(std::lround(at * 1000)) +
             ", \"input_length\": 200, \"output_length\": 32, \"hash_ids\": [" + std::to_string(i) + "]}\n";
  }
  const auto path = std::filesystem::temp_directory_path() / ("llmscape-rising-" + std::to_string(getpid()) + ".jsonl");
  write_file_atomically(path, trace);
  const result::RunResult r = whole_run(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\nserving: {batcher: {policy: "
      "vllm_v1, max_num_seqs: 32}}\nworkload: {replay: {trace: " +
      path.string() + "}}\n");
  std::filesystem::remove(path);
  CHECK(r.requests.completed == 1200);
  CAPTURE(r.verdict.reasons.size());
  CHECK(r.verdict.state == State::valid);
}
