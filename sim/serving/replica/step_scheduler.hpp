// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "sim/serving/replica/pipeline.hpp"
#include "sim/serving/replica/step_ledger.hpp"
#include "sim/serving/replica/step_plan.hpp"

namespace llmscape::serving {

// When the next step of an engine may be planned, and when it runs. This one is of an engine that has its devices for
// itself: a step begins when the one before it has ended, and may be planned when the one `timing.depth` before it has.
class StepScheduler {
 public:
  explicit StepScheduler(StepTiming timing) : timing_(timing) {}
  virtual ~StepScheduler() = default;
  StepScheduler(const StepScheduler&) = delete;
  StepScheduler& operator=(const StepScheduler&) = delete;

  // When a step runs.
  struct Span {
    Seconds start, end;
    Seconds idle;                       // of all stages of a pipeline together, before they take it up: Request::bubble
    std::span<const Seconds> stages{};  // of a pipeline that is shared: when each takes it up; until the next place()
  };

  [[nodiscard]] const StepTiming& timing() const { return timing_; }
  // A step planned at `now` starts no earlier.
  [[nodiscard]] Seconds earliest_start(Seconds now) const { return std::max(now, last_end_); }
  // The end of the step that was planned last.
  [[nodiscard]] Seconds last_end() const { return last_end_; }

  // `planned` steps being planned and not ended, another one may be.
  [[nodiscard]] virtual bool may_plan(Seconds /*now*/, std::size_t planned) const { return planned < timing_.depth; }
  // When one may be, after `now`, if `depth_before` is the end of the step that is `timing.depth` before it (kNever:
  // there is none).
  [[nodiscard]] virtual Seconds next_plan(Seconds /*now*/, Seconds depth_before) const { return depth_before; }
  // Whether steps that would be planned alike may be priced ahead of the clock: nobody else's come between.
  [[nodiscard]] virtual bool looks_ahead() const { return true; }
  // A step that is planned at `now` runs: when.
  virtual Span place(const StepPlan& plan, const engine::EngineCost& cost, Seconds now);

  // A step was planned for good until `end`; the engine is lost at `at`.
  void planned_until(Seconds end) { last_end_ = end; }
  void lose(Seconds at) { last_end_ = std::min(last_end_, at); }

 private:
  StepTiming timing_;
  Seconds last_end_;
};

// Of an engine whose steps pass the stages of a pipeline beside those of other streams. One step of it is in flight at
// a time, since the next one needs its tokens; but where `chunks_follow`, a step of prompt chunks that do not end
// follows the one before it as soon as that has left the first stage.
class PipelineStepScheduler : public StepScheduler {
 public:
  PipelineStepScheduler(StepTiming timing, Pipeline& pipeline, bool chunks_follow)
      : StepScheduler(timing), pipeline_(pipeline), chunks_follow_(chunks_follow) {}

  [[nodiscard]] bool may_plan(Seconds now, std::size_t /*planned*/) const override { return now >= plan_from_; }
  [[nodiscard]] Seconds next_plan(Seconds now, Seconds depth_before) const override {
    return plan_from_ > now ? plan_from_ : depth_before;
  }
  [[nodiscard]] bool looks_ahead() const override { return false; }
  Span place(const StepPlan& plan, const engine::EngineCost& cost, Seconds now) override;

 private:
  Pipeline& pipeline_;
  bool chunks_follow_;
  Seconds plan_from_;  // when the next step may be planned
};

}  // namespace llmscape::serving
