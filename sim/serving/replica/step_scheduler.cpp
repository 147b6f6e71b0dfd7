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
  // A host that hides behind the devices still works that long for each step of a stream.
  const Seconds hosted = timing().hides_host ? ready + cost.host + cost.launch * timing().stages : ready;
  const Seconds end = std::max(passage.end, hosted);
  plan_from_ = chunks_follow_ && plan.goes_on() ? std::max(passage.left_first, hosted) : end;
  return {passage.entered, end, passage.idle, passage.taken_up};
}

}  // namespace llmscape::serving
