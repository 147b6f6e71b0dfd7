// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_ledger.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using llmscape::testing::approx;

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
  CHECK(StepTiming{.hides_host = false}.duration(cost).si() == approx(0.014));
  CHECK(StepTiming{.hides_host = true}.duration(cost).si() == approx(0.011));
  CHECK(StepTiming{.stages = 4, .hides_host = true}.duration(cost).si() == approx(0.041));
  cost.host = Seconds(0.030);
  CHECK(StepTiming{.hides_host = true}.duration(cost).si() == approx(0.031));
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

// Stages of 1 s each take the step up at 0, 3 and 4: it waits for the second one from 1 to 3.
TEST_CASE("of a step that waits for stages which others use, what stages did counts") {
  Listener listener;
  StepLedger ledger({.stages = 3, .shared_stages = true}, listener);
  const std::vector<Seconds> taken_up = {Seconds(0), Seconds(3), Seconds(4)};
  ledger.commit(cost_of(1, 12), Seconds(0), Seconds(5), decodes(1), {.tokens = 1, .emitted = 1}, taken_up);
  CHECK(ledger.used_until(Seconds(0.5)).busy.si() == approx(0.5 / 3));
  for (const double at : {1.0, 2.0, 3.0}) CHECK(ledger.used_until(Seconds(at)).busy.si() == approx(1.0 / 3));
  CHECK(ledger.used_until(Seconds(4.5)).busy.si() == approx(2.5 / 3));
  CHECK(ledger.used_until(Seconds(4.5)).energy[0].si() == approx(10));
  CHECK(ledger.used_until(Seconds(5)).busy == Seconds(1));
}

// Two devices of 300 W: a step of 2 s that lasts 5 waits for 3 s, which is 2 x 300 x 3 = 1,800 J; at 4 s four fifths of
// it have passed.
TEST_CASE("what waits inside a collective runs a kernel: it draws what one draws whatever it does") {
  Listener listener;
  StepLedger ledger({.waits_for_others = true, .waiting = Watts(600), .depth = 2}, listener);
  ledger.commit(cost_of(2, 10), Seconds(0), Seconds(5), decodes(1), {.tokens = 1, .emitted = 1});
  CHECK(ledger.used_until(Seconds(4)).energy[0].si() == approx(0.8 * (1800 + 10)));
  ledger.spend_ended(Seconds(5));
  constexpr auto kCollective = static_cast<std::size_t>(hardware::OperatorFamily::collective);
  CHECK(ledger.totals().energy[0].si() == approx(1800 + 10));
  CHECK(ledger.totals().energy_by_family[kCollective].si() == approx(1800));
  CHECK(ledger.totals().time_of(kCollective).si() == approx(3));
  CHECK(listener.joules == approx(1800 + 10));
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
  CHECK(listener.joules == approx(20));
  CHECK(listener.spans == std::vector<std::pair<double, double>>{{0, 2}, {2, 3}});
}

TEST_CASE("steps of a run come to the same bits at once and one by one, those under way too") {
  hardware::PartCost part;
  const hardware::KernelCost gemm{Seconds(3e-3), Flops(2e12), Flops(2e12), Bytes(15e9)};
  part.add(hardware::OperatorFamily::gemm, gemm, Joules(0.7), 1);
  const hardware::Rates rates{FlopsPerSecond(989e12), BytesPerSecond(3.35e12)};
  const hardware::PowerModel power{Watts(120), JoulesPerByte(45e-12), JoulesPerByte(10e-12)};
  engine::DecodeRun run;
  run.steps = std::make_shared<const hardware::DecodeSteps>(part, rates, power, 1);
  run.host = Seconds(1e-4);
  for (const std::size_t before : {0, 1, 2})
    for (const std::size_t count : {1, 2, 3, 7}) {
      CAPTURE(before);
      CAPTURE(count);
      const StepTiming timing{.hides_host = true, .depth = 2};
      Ring<RunStep> steps;
      Seconds end;
      for (std::size_t i = 0; i < before + count; ++i) {
        hardware::OwnAttention own = run.steps->common();
        const double kib = 20 + static_cast<double>(i) / 3;
        own.cost.add({Seconds(kib * 1e-6), Flops(4e9), Flops(4e9), Bytes(kib * 1024)}, Joules(1e-3 * kib), 32);
        end += timing.duration(run.steps->device(own), run.host, run.launch, run.sync);
        steps.push_back() = {end, own};
      }
      Listener one_by_one, at_once;
      StepLedger singly(timing, one_by_one), together(timing, at_once);
      Seconds start;
      for (std::size_t i = 0; i < before + count; ++i) {
        StepPlan plan = decodes(3);
        plan.attended = {{static_cast<std::int64_t>(100 + 3 * i), 50}};
        StepLedger::Occupancy occupancy{.tokens = 3, .emitted = 3};
        occupancy.kv_blocks = static_cast<std::int64_t>(20 + i);
        singly.commit({nullptr, &run, &steps[i].own}, start, steps[i].end, plan, occupancy);
        if (i < before) together.commit({nullptr, &run, &steps[i].own}, start, steps[i].end, plan, occupancy);
        start = steps[i].end;
      }
      const Seconds from = before > 0 ? steps[before - 1].end : Seconds();
      steps.pop_front(before);
      const std::vector<std::int64_t> attended = {
          static_cast<std::int64_t>(count * (100 + 3 * before) + 3 * count * (count - 1) / 2)};
      StepLedger::Alike alike{3, {.tokens = 3, .emitted = 3}, attended};
      alike.last.kv_blocks = static_cast<std::int64_t>(20 + before + count - 1);
      together.commit_run(run, steps, count, from, alike);
      const auto check = [&] {
        CHECK(together.totals().steps == singly.totals().steps);
        CHECK(together.totals().decode_tokens == singly.totals().decode_tokens);
        CHECK(together.totals().attended == singly.totals().attended);
        CHECK(together.totals().attended_decodes == singly.totals().attended_decodes);
        CHECK(together.totals().peak_kv_blocks == singly.totals().peak_kv_blocks);
        CHECK(together.totals().busy == singly.totals().busy);
        CHECK(together.totals().time == singly.totals().time);
        CHECK(together.totals().energy == singly.totals().energy);
        CHECK(together.totals().bytes == singly.totals().bytes);
        CHECK(together.totals().cut_emitted_tokens == singly.totals().cut_emitted_tokens);
        CHECK(at_once.spans == one_by_one.spans);
        CHECK(at_once.joules == one_by_one.joules);
      };
      check();
      const Seconds cut = 0.4 * steps[count - 1].end + 0.6 * (count > 1 ? steps[count - 2].end : from);
      singly.stop(cut);
      together.stop(cut);
      check();
      CHECK(singly.totals().steps == static_cast<std::int64_t>(before + count - 1));
    }
}

TEST_CASE("steps of runs come to what their costs do, whatever comes between them") {
  const hardware::Rates rates{FlopsPerSecond(989e12), BytesPerSecond(3.35e12)};
  const hardware::PowerModel power{Watts(120), JoulesPerByte(45e-12), JoulesPerByte(10e-12), Watts(400)};
  std::vector<engine::DecodeRun> runs;
  for (const double decodes : {3, 4}) {
    hardware::PartCost part;
    part.add(hardware::OperatorFamily::gemm, {Seconds(1e-3 * decodes), Flops(2e12), Flops(2e12), Bytes(15e9)},
             Joules(0.7), 1);
    part.add(hardware::OperatorFamily::collective, {Seconds(2e-4), Flops(), Flops(), Bytes(1e6)}, Joules(), 1);
    part.link_bytes = Bytes(3e8);
    part.extrapolated = Seconds(1e-5);
    engine::DecodeRun& run = runs.emplace_back();
    run.steps = std::make_shared<const hardware::DecodeSteps>(part, rates, power, 2);
    run.host = Seconds(5e-3);
    run.decodes = static_cast<std::int64_t>(decodes);
  }
  runs.push_back(runs[0]);
  runs.back().adapters = 2;
  const StepTiming timing{.stages = 2, .hides_host = true, .depth = 2};
  Listener of_runs, of_wholes;
  StepLedger by_runs(timing, of_runs), by_wholes(timing, of_wholes);
  Seconds start;
  for (std::size_t i = 0; i < 40; ++i) {
    const engine::DecodeRun& run = runs[i / 3 % 3];
    hardware::OwnAttention own = run.steps->common();
    const auto contexts = static_cast<double>(i % 7 * i);  // from none, to what fills the memory
    const Flops flops(4e7 * contexts);
    own.cost.add({Seconds(1e-5 * contexts), flops, flops, Bytes(3e7 * contexts)}, Joules(1e-3 * contexts), 1);
    own.flops += flops;
    const engine::EngineCost cost = run.cost(own);
    const Seconds end = start + timing.duration(cost);
    by_runs.commit({nullptr, &run, &own}, start, end, decodes(run.decodes), {});
    by_wholes.commit(cost, start, end, decodes(run.decodes), {});
    if (i == 25) CHECK(by_runs.used_until(end).energy[0].si() == approx(by_wholes.used_until(end).energy[0].si()));
    start = end;
  }
  by_runs.stop(start);
  by_wholes.stop(start);
  const ReplicaTotals &totals = by_runs.totals(), &expected = by_wholes.totals();
  const auto same = [](const auto& some, const auto& others) {
    for (std::size_t i = 0; i < some.size(); ++i) CHECK(some[i].si() == approx(others[i].si()).epsilon(1e-12));
  };
  CHECK(totals.busy == expected.busy);
  for (std::size_t family = 0; family < totals.time.size(); ++family) same(totals.time[family], expected.time[family]);
  same(totals.energy, expected.energy);
  same(totals.energy_by_family, expected.energy_by_family);
  same(totals.busy_by_resource, expected.busy_by_resource);
  same(std::array{totals.flops}, std::array{expected.flops});
  same(std::array{totals.bytes}, std::array{expected.bytes});
  same(std::array{totals.extrapolated}, std::array{expected.extrapolated});
  CHECK(of_runs.joules == approx(of_wholes.joules).epsilon(1e-12));
}

TEST_CASE("a replica that is lost has spent what its steps had come to") {
  Listener listener;
  StepLedger ledger({.depth = 1}, listener);
  ledger.commit(cost_of(4, 40), Seconds(2), Seconds(6), decodes(2), {.tokens = 2, .emitted = 2});
  const StepLedger::Cut cut = ledger.lose(Seconds(3));
  CHECK(cut.emitted_tokens == 2);
  CHECK(cut.decode_steps == 1);
  CHECK(ledger.totals().busy == Seconds(1));
  CHECK(ledger.totals().energy[0] == Joules(10));
  CHECK(ledger.totals().steps == 0);  // nobody had what it would have answered
  CHECK(ledger.totals().decode_tokens == 0);
}

}  // namespace llmscape::serving
