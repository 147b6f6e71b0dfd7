// SPDX-License-Identifier: Apache-2.0
// The serving loop against queueing theory.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

// Poisson arrivals of one-token calls, without end: each is one step.
class PoissonCalls : public workloads::Generator {
 public:
  PoissonCalls(double rate, std::int64_t calls) : random_(7), mean_gap_(1 / rate), left_(calls) { advance(); }
  std::optional<workloads::Program> next(Diagnostics&) override {
    workloads::Program program = llmscape::testing::call(at_, {{static_cast<ContentId>(left_), 8}}, 1);
    --left_;
    advance();
    return program;
  }
  Seconds next_start() override { return left_ > 0 ? Seconds(at_) : workloads::kNever; }
  void finished(const workloads::Program&, Seconds) override {}
  [[nodiscard]] bool ended() const override { return left_ == 0; }

 private:
  void advance() { at_ += random_.exponential(mean_gap_); }
  RandomStream random_;
  double mean_gap_;
  std::int64_t left_;
  double at_ = 0;
};

// One sequence at a time, each step a second long.
VllmV1 one_at_a_time() {
  VllmV1 policy;
  policy.max_num_seqs = 1;
  policy.async_scheduling = false;
  policy.enable_prefix_caching = false;
  return policy;
}

double mean_wait(double utilisation, std::int64_t calls) {
  System system({}, one_at_a_time(), RoundRobin(), [](const models::Batch&) { return 1.0; });
  system.keep_steps = false;
  double wait = 0;
  system.on_answer = [&](const Request& request, Outcome) { wait += (request.last_token - request.arrival).si() - 1; };
  PoissonCalls generator(utilisation, calls);
  system.run(generator);
  return wait / static_cast<double>(calls);
}

}  // namespace

TEST_CASE("M/D/1: the mean wait is rho / (2 (1 - rho)) services, within 3 % on 300,000 calls") {
  CHECK(mean_wait(0.5, 300'000) == approx(0.5).epsilon(0.03));
  CHECK(mean_wait(0.8, 300'000) == approx(2.0).epsilon(0.03));
}

TEST_CASE("M/D/1 within 1 % on ten million calls" * doctest::skip()) {
  CHECK(mean_wait(0.5, 10'000'000) == approx(0.5).epsilon(0.01));
  CHECK(mean_wait(0.8, 10'000'000) == approx(2.0).epsilon(0.01));
}

TEST_CASE("Little's law holds exactly: time integral of open calls = sum of their times in the system") {
  RandomStream random(3);
  std::vector<workloads::Program> programs;
  double at = 0;
  for (int i = 0; i < 2000; ++i) {
    at += random.exponential(0.02);
    programs.push_back(
        llmscape::testing::call(at, {{static_cast<ContentId>(i + 1), random.integer(1, 400)}}, random.integer(1, 60)));
  }
  System system({}, VllmV1(), RoundRobin(),
                [](const models::Batch& b) { return 1e-3 + 1e-5 * static_cast<double>(b.tokens()); });
  system.run(programs);
  std::vector<std::pair<double, int>> events;
  double time_in_system = 0;
  for (const auto& answer : system.answers) {
    events.emplace_back(answer.request.arrival.si(), 1);
    events.emplace_back(answer.request.last_token.si(), -1);
    time_in_system += (answer.request.last_token - answer.request.arrival).si();
  }
  std::sort(events.begin(), events.end());
  double integral = 0;
  double before = 0;
  int open = 0;
  for (const auto& [when, change] : events) {
    integral += open * (when - before);
    before = when;
    open += change;
  }
  CHECK(integral == approx(time_in_system).epsilon(1e-12));
}
