// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "sim/serving/replica/ring.hpp"
#include "sim/serving/replica/step_ledger.hpp"

namespace llmscape::serving {

// Steps of decodes that are planned ahead of the clock: either all of one run, each as its attention, or each with its
// whole cost.
class AheadSteps {
 public:
  // Those of a run.
  [[nodiscard]] const engine::DecodeRun& run() const { return run_; }
  [[nodiscard]] const Ring<RunStep>& of_run() const { return alike_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return alike_.size() + whole_.size(); }
  [[nodiscard]] Seconds end(std::size_t i) const { return alike_.empty() ? whole_[i].end : alike_[i].end; }
  void clear() {
    alike_.clear();
    whole_.clear();
  }

  // Those that are added with an attention from now on are of `run`. There are none yet.
  void begin(const engine::DecodeRun& run) { run_.become(run); }
  void add(Seconds end, const hardware::OwnAttention& own) { alike_.push_back() = {end, own}; }
  void add(Seconds end, const engine::EngineCost& cost, const KvStepCopies& copies) {
    whole_.push_back() = {end, cost, copies};
  }

  // Of the first.
  [[nodiscard]] StepPrice price() const {
    if (alike_.empty()) return {&whole_.front().cost, nullptr, nullptr};
    return {nullptr, &run_, &alike_.front().own};
  }
  [[nodiscard]] KvStepCopies copies() const { return alike_.empty() ? whole_.front().copies : KvStepCopies{}; }
  void pop_front(std::size_t count = 1) {
    if (alike_.empty()) whole_.pop_front(count);
    else alike_.pop_front(count);
  }

 private:
  struct Whole {
    Seconds end;
    engine::EngineCost cost;
    KvStepCopies copies;
  };
  Ring<RunStep> alike_;
  Ring<Whole> whole_;
  engine::DecodeRun run_;
};

}  // namespace llmscape::serving
