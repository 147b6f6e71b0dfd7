// SPDX-License-Identifier: Apache-2.0
// When steps run: times by hand.
#include <doctest/doctest.h>

#include "sim/serving/replica/step_scheduler.hpp"

using namespace llmscape;
using namespace llmscape::serving;

namespace {

template <class Cost>
Cost cost_of(double device_s, double host_s) {
  Cost cost{};
  cost.device = Seconds(device_s);
  cost.host = Seconds(host_s);
  return cost;
}
using StepCostType = decltype(UnderWay::whole);

StepPlan chunk(bool ends_prompt) {
  StepPlan plan;
  plan.chunks.push_back({nullptr, {100, 0, ends_prompt}, true, false});
  return plan;
}

}  // namespace

TEST_CASE("an engine with devices of its own: a step begins when the one before it has ended, `depth` are planned") {
  StepTiming timing;
  timing.depth = 2;
  StepScheduler scheduler(timing);
  const auto cost = cost_of<StepCostType>(3, 1);
  CHECK(scheduler.may_plan(Seconds(10), 1));
  CHECK_FALSE(scheduler.may_plan(Seconds(10), 2));
  StepScheduler::Span span = scheduler.place(chunk(true), cost, Seconds(10));
  CHECK(span.start == Seconds(10));
  CHECK(span.end == Seconds(14));
  CHECK(span.idle == Seconds());
  scheduler.planned_until(span.end);
  span = scheduler.place(chunk(true), cost, Seconds(11));
  CHECK(span.start == Seconds(14));
  CHECK(span.end == Seconds(18));
  CHECK(scheduler.next_plan(Seconds(11), Seconds(14)) == Seconds(14));
  CHECK(scheduler.looks_ahead());
  scheduler.lose(Seconds(12));
  CHECK(scheduler.earliest_start(Seconds(12)) == Seconds(12));
}

// A host that hides needs 10 s for a step of two stages of 3 s: the stream alone steps every 10 s, as it does where its
// stages are not shared, and another stream is not held up.
TEST_CASE("what a host hides bounds the steps of a stream that shares its stages") {
  StepTiming timing;
  timing.stages = 2;
  timing.hides_host = true;
  const auto cost = cost_of<StepCostType>(3, 10);
  CHECK(timing.duration(cost) == Seconds(10));
  timing.shared_stages = true;
  Pipeline pipeline(2);
  PipelineStepScheduler one(timing, pipeline, true), other(timing, pipeline, true);
  CHECK(one.place(chunk(true), cost, Seconds()).end == Seconds(10));
  CHECK_FALSE(one.may_plan(Seconds(9), 1));
  CHECK(one.may_plan(Seconds(10), 1));
  const StepScheduler::Span span = other.place(chunk(false), cost_of<StepCostType>(3, 0), Seconds(1));
  CHECK(span.start == Seconds(3));
  CHECK(span.end == Seconds(9));
  CHECK(other.may_plan(Seconds(6), 1));
}

// Two stages, 3 s each, behind 1 s of host time.
TEST_CASE("a pipeline's next step waits for the end of this one, or for its first stage where the prompt goes on") {
  StepTiming timing;
  timing.stages = 2;
  timing.shared_stages = true;
  for (const bool follow : {false, true}) {
    Pipeline pipeline(2);
    PipelineStepScheduler scheduler(timing, pipeline, follow);
    const auto cost = cost_of<StepCostType>(3, 1);
    CHECK(scheduler.may_plan(Seconds(), 0));
    CHECK_FALSE(scheduler.looks_ahead());
    StepScheduler::Span span = scheduler.place(chunk(false), cost, Seconds(10));
    scheduler.planned_until(span.end);
    CHECK(span.start == Seconds(11));
    CHECK(span.end == Seconds(17));
    CHECK(span.idle == Seconds());  // its very first batch
    const Seconds next(follow ? 14 : 17);
    CHECK(scheduler.next_plan(Seconds(10), Seconds(17)) == next);
    CHECK_FALSE(scheduler.may_plan(next - Seconds(0.5), 1));
    CHECK(scheduler.may_plan(next, 1));
    span = scheduler.place(chunk(true), cost, next);
    CHECK(span.start == next + Seconds(1));
    // Stage 1 idled from 14 on, stage 2 from 17 on: until 15 and 18, or until 18 and 21.
    CHECK(span.idle == Seconds(follow ? 1 + 1 : 4 + 4));
    CHECK(scheduler.next_plan(next, span.end) == span.end);  // it ends its prompt: the next one needs its token
  }
}

TEST_CASE("only chunks of prompts that go on let the next step follow") {
  CHECK(chunk(false).goes_on());
  CHECK_FALSE(chunk(true).goes_on());
  StepPlan part = chunk(false);
  part.chunks.front().unfinished = true;  // its other layers are the next step's
  CHECK_FALSE(part.goes_on());
  StepPlan decodes = chunk(false);
  decodes.decodes = 1;
  CHECK_FALSE(decodes.goes_on());
}
