// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_scheduler.hpp"

namespace llmscape::serving {

StepScheduler::Span StepScheduler::place(const StepPlan& /*plan*/, const engine::EngineCost& cost, Seconds now) {
  const Seconds start = earliest_start(now);
  return {start, start + timing_.duration(cost), {}, {}};
}

// What the host takes for a step and does not hide comes before the first stage, which other streams use meanwhile.
StepScheduler::Span PipelineStepScheduler::place(const StepPlan& plan, const engine::EngineCost& cost, Seconds now) {
  const Seconds ready = now + (timing().hides_host ? Seconds() : cost.host) + cost.sync;
  const Pipeline::Passage passage = pipeline_.pass(ready, cost.stage());
  plan_from_ = chunks_follow_ && plan.goes_on() ? passage.left_first : passage.end;
  return {passage.entered, passage.end, passage.idle, passage.taken_up};
}

}  // namespace llmscape::serving
