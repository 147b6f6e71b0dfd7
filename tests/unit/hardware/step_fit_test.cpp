// SPDX-License-Identifier: Apache-2.0
// A table of steps, scored on those that it had not seen.
#include "hardware/calibration/step_fit.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "closed_form_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

const std::vector<std::int64_t> kLaws = {0};

// Decodes of many sizes and contexts, and prompts, that took `ratio` times their price.
std::vector<MeasuredStep> steps_of(StepModel& priced, double (*ratio)(const StepComposition&), int repeats = 1) {
  std::vector<MeasuredStep> steps;
  const auto add = [&](const StepComposition& what) {
    for (int i = 0; i < repeats; ++i) {
      MeasuredStep step;
      static_cast<StepComposition&>(step) = what;
      step.time = ratio(what) * priced.step(ComposedBatch(what, kLaws).batch()).device;
      steps.push_back(step);
    }
  };
  for (const std::int64_t sequences : {1, 2, 4, 6, 8, 12, 16, 24, 32})
    for (const std::int64_t context : {256, 512, 1024, 2048}) {
      StepComposition step;
      step.decodes = sequences;
      step.context = sequences * context;
      add(step);
    }
  for (const std::int64_t tokens : {64, 100, 150, 220, 330, 500}) {
    StepComposition step;
    step.prompts = 1;
    step.prompt_tokens = tokens;
    add(step);
  }
  return steps;
}

std::unique_ptr<StepModel> processor() { return catalog_device("cpu-epyc-vm")->bind(llama_1b(), {}, {}); }

}  // namespace

TEST_CASE("steps that all took 1.3 of their price predict the held-out ones exactly, the price is 23 % low") {
  const auto priced = processor();
  const auto steps = steps_of(*priced, [](const StepComposition&) { return 1.3; });
  const StepFit fit = fit_steps(steps, *priced, kLaws);
  CHECK(fit.ratio == approx(1.3));
  CHECK(fit.held_out.size() > steps.size() / 10);
  CHECK(fit.held_out.size() < steps.size() / 3);
  for (const HeldOutStep& step : fit.held_out) {
    CHECK(step.priced == approx(step.measured / 1.3));
    if (step.trust == 1) CHECK(step.tabled == approx(step.measured));
  }
}

TEST_CASE("what decodes and prompts take of their prices is told apart") {
  const auto priced = processor();
  const auto steps = steps_of(*priced, [](const StepComposition& step) { return step.prompts > 0 ? 0.8 : 1.25; });
  for (const HeldOutStep& step : fit_steps(steps, *priced, kLaws).held_out)
    if (step.trust == 1) CHECK(step.tabled == approx(step.measured));
}

TEST_CASE("steps that are alike are one of the table, which knows how many they were") {
  const auto priced = processor();
  const auto once = fit_steps(steps_of(*priced, [](const StepComposition&) { return 1.0; }), *priced, kLaws);
  const auto thrice = fit_steps(steps_of(*priced, [](const StepComposition&) { return 1.0; }, 3), *priced, kLaws);
  CHECK(thrice.steps.size() == once.steps.size());
  CHECK(thrice.held_out.size() == 3 * once.held_out.size());
  const auto all = [](const StepFit& fit) {
    return std::accumulate(fit.steps.begin(), fit.steps.end(), std::int64_t{0},
                           [](std::int64_t sum, const MeasuredStep& step) { return sum + step.count; });
  };
  CHECK(all(once) == 42);
  CHECK(all(thrice) == 126);
}

TEST_CASE("of alike steps the one with the median ratio counts: a disturbed one leaves no trace") {
  const auto priced = processor();
  auto steps = steps_of(*priced, [](const StepComposition&) { return 1.1; }, 3);
  for (std::size_t i = 0; i < steps.size(); i += 3) steps[i].time *= 5;
  const StepFit fit = fit_steps(steps, *priced, kLaws);
  for (const MeasuredStep& step : fit.steps)
    CHECK(step.time / priced->step(ComposedBatch(step, kLaws).batch()).device == approx(1.1));
}

TEST_CASE("few steps, or steps that are all alike, make no table") {
  const auto priced = processor();
  auto steps = steps_of(*priced, [](const StepComposition&) { return 1.0; });
  steps.resize(kFewestSteps - 1);
  CHECK_THROWS_AS(fit_steps(steps, *priced, kLaws), std::invalid_argument);
  const std::vector<MeasuredStep> alike(100, steps.front());
  CHECK_THROWS_AS(fit_steps(alike, *priced, kLaws), std::invalid_argument);
}

}  // namespace llmscape::hardware
