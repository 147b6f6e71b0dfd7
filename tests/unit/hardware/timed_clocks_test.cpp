// SPDX-License-Identifier: Apache-2.0
// Kernels that were timed at a board's power limit: they had no boost clock to lose.
#include "hardware/gpu/timed_clocks.hpp"

#include "closed_form_cases.hpp"
#include "tests/support/approx.hpp"

#include <cmath>
#include <numeric>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

constexpr auto kGemm = static_cast<std::size_t>(OperatorFamily::gemm);

// A second of arithmetic at the boost clock that takes these joules of work.
class Arithmetic1s final : public StepModel {
 public:
  Arithmetic1s(double share, Joules work) : share_(share), work_(work) {}
  StepPhases phases(const models::Batch&) override {
    StepPhases step;
    Phase& gemm = step.of(OperatorFamily::gemm);
    gemm.time = gemm.busy_of(Resource::arithmetic) = Seconds(1 / share_);
    gemm.energy_of(EnergyComponent::compute) = work_;
    return step;
  }

 private:
  double share_;
  Joules work_;
};

// On a board that may draw 600 W above idle.
std::shared_ptr<TimedClocks> timed(Joules work) {
  return std::make_shared<TimedClocks>([work](double share) { return std::make_unique<Arithmetic1s>(share, work); },
                                       Watts(600), 1);
}

std::unique_ptr<StepModel> below(const std::shared_ptr<TimedClocks>& clocks, double watts) {
  return under_power_limit([clocks](double share) { return at_clock(clocks, share); }, Watts(watts), 1);
}

TEST_CASE("at which clock did a kernel run that would draw 1,200 W and was held to 600? where V^2 is a half: 0.707") {
  const auto clocks = timed(Joules(1200));
  for (const double clock : {1.0, 0.9, 0.75, 0.708}) {
    CAPTURE(clock);
    const StepPhases step = clocks->phases({}, clock);
    CHECK(step.at(kGemm).time.si() == approx(1).epsilon(1e-6));  // as it was measured
    CHECK(step.energy().si() == approx(600));
  }
  // Below it slows in proportion; from 0.7 on the voltage stays.
  const StepPhases half = clocks->phases({}, std::sqrt(0.5) / 2);
  CHECK(half.at(kGemm).time.si() == approx(2).epsilon(1e-3));
  CHECK(half.energy().si() == approx(1200 * 0.49));
}

TEST_CASE("what does a limit of 400 W do to it? 588 J take 1.47 s, though one that ran at boost would take 1.14 s") {
  const StepPhases throttled = below(timed(Joules(1200)), 400)->phases({});
  CHECK(throttled.time().si() == approx(1200 * 0.49 / 400).epsilon(2e-3));
  CHECK((throttled.energy() / throttled.time()).si() == approx(400));
  // 600 W at boost: 600 c^3 = 400 at c = 0.874.
  const StepPhases free = below(timed(Joules(600)), 400)->phases({});
  CHECK(free.time().si() == approx(std::cbrt(1.5)).epsilon(2e-3));
}

// 250 W active, 600 W of work and 88 W of traffic in a second, held to 600: at 0.8 of the clock V^2 is 0.64, and
// 250 x 0.8 x 0.64 + 600 x 0.64 + 88 = 128 + 384 + 88.
TEST_CASE("joules of a family at the limit are those of the clock that it ran at: traffic does not fall with it") {
  const auto held = [](double active, double work, double memory, double links, double clock) {
    Phase phase;
    phase.energy_of(EnergyComponent::active) = Joules(active);
    phase.energy_of(EnergyComponent::compute) = Joules(work);
    phase.energy_of(EnergyComponent::memory) = Joules(memory);
    phase.energy_of(EnergyComponent::interconnect) = Joules(links);
    CHECK(hold_to(phase, Joules(600)) == approx(clock).epsilon(1e-12));
    CHECK(std::accumulate(phase.energy.begin(), phase.energy.end(), Joules()).si() == approx(600).epsilon(1e-12));
    return phase;
  };
  Phase fast = held(250, 600, 80, 8, 0.8);
  CHECK(fast.energy_of(EnergyComponent::active).si() == approx(128));
  CHECK(fast.energy_of(EnergyComponent::compute).si() == approx(384));
  CHECK(fast.energy_of(EnergyComponent::memory).si() == approx(80));
  CHECK(fast.energy_of(EnergyComponent::interconnect).si() == approx(8));
  // Below 0.7 V^2 stays at 0.49: 1,000 x 0.5 x 0.49 + 500 x 0.49 + 110.
  CHECK(held(1000, 500, 110, 0, 0.5).energy_of(EnergyComponent::compute).si() == approx(245));
  // Traffic alone exceeds the limit: at 0.15 200 x 0.15 x 0.49 + 100 x 0.49 + 700 = 763.7, and all are cut alike.
  CHECK(held(200, 100, 700, 0, 0.15).energy_of(EnergyComponent::memory).si() == approx(700 * 600 / 763.7));
  CHECK(held(0, 1300, 0, 0, 0.15).energy_of(EnergyComponent::compute).si() == approx(600));
}

// Experts that draw more than the limit in the time that they were measured to take: their bytes take what bytes do.
TEST_CASE("a lower limit raises no joules of arithmetic, and joules of traffic are those of its bytes") {
  Gpu gpu = catalog_gpu("h100-sxm");
  const Prompt prompt(8192);
  const auto of = [&](EnergyComponent component) {
    return step(gpu, llama_8b(), prompt.batch).energy[static_cast<std::size_t>(component)].si();
  };
  const double bytes = step(gpu, llama_8b(), prompt.batch).bytes.si();
  CHECK(of(EnergyComponent::memory) == approx(bytes * gpu.energy.memory.si()));
  double last = of(EnergyComponent::compute);
  for (const double limit : {690.0, 650.0, 600.0, 500.0, 400.0, 300.0}) {
    CAPTURE(limit);
    gpu.power_limit = Watts(limit);
    CHECK(of(EnergyComponent::compute) <= last * (1 + 1e-9));
    last = of(EnergyComponent::compute);
  }
}

TEST_CASE("a limit at which it was timed, or a higher one, changes nothing") {
  for (const double limit : {600.0, 2000.0}) {
    const StepPhases step = below(timed(Joules(1200)), limit)->phases({});
    CHECK(step.time() == Seconds(1));
    CHECK(step.energy().si() == approx(600));
  }
}

TEST_CASE("a prompt on an H200: as timed at 700 W, and the slower the less it may draw") {
  Gpu gpu = catalog_gpu("h200");
  const Prompt prompt(8192);
  const Seconds timed_at_limit = step(gpu, llama_8b(), prompt.batch).device;
  gpu.tdp.value = Watts(2000);
  CHECK(step(gpu, llama_8b(), prompt.batch).device == timed_at_limit);
  Seconds last = timed_at_limit;
  for (const double limit : {650.0, 600.0, 500.0, 400.0, 300.0}) {
    CAPTURE(limit);
    gpu.power_limit = Watts(limit);
    const auto cost = step(gpu, llama_8b(), prompt.batch);
    CHECK(cost.device > last);
    CHECK((total_energy(cost) / cost.device + *gpu.idle).si() <= limit * (1 + 1e-9));
    last = cost.device;
  }
}

}  // namespace
}  // namespace llmscape::hardware
