// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_ledger.hpp"

#include <doctest/doctest.h>

namespace llmscape::serving {
namespace {

struct Listener : StepListener {
  void on_token_gaps(Seconds, Seconds, std::int64_t) override {}
  void on_step(Seconds, Seconds, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override { ++steps; }
  void on_energy(Seconds start, Seconds end, Joules energy) override {
    spans.emplace_back(start.si(), end.si());
    joules += energy.si();
  }
  int steps = 0;
  std::vector<std::pair<double, double>> spans;
  double joules = 0;
};

engine::EngineCost cost_of(double device, double joules) {
  engine::EngineCost cost;
  cost.device = Seconds(device);
  cost.by_family[0] = cost.device;
  cost.energy[0] = Joules(joules);
  return cost;
}

StepPlan decodes(std::int64_t count) {
  StepPlan plan;
  plan.decodes = count;
  return plan;
}

}  // namespace

TEST_CASE("asynchronous scheduling takes the longer of device and host, else their sum; a transfer waits behind both") {
  engine::EngineCost cost = cost_of(0.010, 0);
  cost.host = Seconds(0.003);
  cost.sync = Seconds(0.001);
  CHECK(StepTiming{.hides_host = false}.duration(cost).si() == doctest::Approx(0.014));
  CHECK(StepTiming{.hides_host = true}.duration(cost).si() == doctest::Approx(0.011));
  CHECK(StepTiming{.stages = 4, .hides_host = true}.duration(cost).si() == doctest::Approx(0.041));
  cost.host = Seconds(0.030);
  CHECK(StepTiming{.hides_host = true}.duration(cost).si() == doctest::Approx(0.031));
}

TEST_CASE("a step counts when it is planned, its time and joules when it ends, and by its share until then") {
  Listener listener;
  StepLedger ledger({.depth = 2}, listener);
  ledger.commit(cost_of(2, 10), Seconds(0), Seconds(2), decodes(3), {.tokens = 3, .emitted = 3});
  ledger.commit(cost_of(4, 40), Seconds(2), Seconds(6), decodes(2), {.tokens = 2, .emitted = 2});
  CHECK(listener.steps == 2);
  CHECK(ledger.totals().decode_tokens == 5);
  CHECK(ledger.totals().busy == Seconds());
  CHECK(ledger.used_until(Seconds(3)).busy == Seconds(3));
  CHECK(ledger.used_until(Seconds(3)).energy[0] == Joules(20));  // 10 and a quarter of 40
  ledger.spend_ended(Seconds(3));
  CHECK(ledger.totals().busy == Seconds(2));
  CHECK(ledger.used_until(Seconds(3)).energy[0] == Joules(20));
}

TEST_CASE("what the end of a run cuts off counts until then, and its tokens not at all") {
  Listener listener;
  StepLedger ledger({.depth = 2}, listener);
  ledger.commit(cost_of(2, 10), Seconds(0), Seconds(2), decodes(3), {.tokens = 3, .emitted = 3});
  ledger.commit(cost_of(4, 40), Seconds(2), Seconds(6), decodes(2), {.tokens = 2, .emitted = 2});
  ledger.stop(Seconds(3));
  CHECK(ledger.totals().steps == 1);
  CHECK(ledger.totals().decode_tokens == 3);
  CHECK(ledger.totals().cut_emitted_tokens == 2);
  CHECK(ledger.totals().busy == Seconds(3));
  CHECK(listener.joules == doctest::Approx(20));
  CHECK(listener.spans == std::vector<std::pair<double, double>>{{0, 2}, {2, 3}});
}

TEST_CASE("a replica that is lost has spent what its steps had come to") {
  Listener listener;
  StepLedger ledger({.depth = 1}, listener);
  ledger.commit(cost_of(4, 40), Seconds(2), Seconds(6), decodes(2), {.tokens = 2, .emitted = 2});
  ledger.lose(Seconds(3));
  CHECK(ledger.totals().busy == Seconds(1));
  CHECK(ledger.totals().energy[0] == Joules(10));
  CHECK(ledger.totals().steps == 1);  // its tokens were planned, and are lost with their calls
}

}  // namespace llmscape::serving
