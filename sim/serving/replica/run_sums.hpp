// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/engine_model.hpp"
#include "sim/serving/replica/replica_totals.hpp"

namespace llmscape::serving {

// What whole steps of runs of decodes have come to, by the number of their decodes. Steps of as many differ in nothing
// but their attention: that is summed step by step, and all they have in common is multiplied by how many there were
// when totals are asked for. Two lines of a cache are touched for a step, where the totals are twelve.
class RunSums {
 public:
  // Of one number of decodes.
  class alignas(64) Alike {
   public:
    // `host`: what of the host's time the device did not hide.
    void add(const hardware::OwnAttention& own, const hardware::DecodeSteps::Own& step, Seconds host) {
      ++times_;
      time_[static_cast<std::size_t>(step.bound)] += own.cost.time;
      for (std::size_t i = 0; i < joules_.size(); ++i) joules_[i] += step.joules[i];
      arithmetic_ += step.arithmetic;
      memory_ += step.memory;
      flops_ += own.flops;
      bytes_ += own.cost.bytes;
      host_ += host;
    }

   private:
    friend class RunSums;
    void add_to(ReplicaTotals& totals, double stages) const;

    std::shared_ptr<const hardware::DecodeSteps> steps_;
    std::int64_t adapters_ = 0, times_ = 0;
    std::array<Seconds, 4> time_{};   // of attention, by what it waits for: it does for nothing behind memory
    std::array<Joules, 3> joules_{};  // DecodeSteps::Own::joules
    Seconds arithmetic_, memory_;
    Flops flops_;  // of whole steps
    Bytes bytes_;  // of attention
    Seconds host_;
  };

  // Those that are of `run`. What were of as many decodes with other adapters is added to the totals.
  Alike& of(const engine::DecodeRun& run, double stages, ReplicaTotals& totals) {
    const auto decodes = static_cast<std::size_t>(run.decodes);
    if (decodes >= alike_.size() || !alike_[decodes].steps_ || alike_[decodes].adapters_ != run.adapters)
      begin(run, stages, totals);
    return alike_[decodes];
  }
  // Adds all to the totals of a replica of so many pipeline stages.
  void add_to(ReplicaTotals& totals, double stages) const;

 private:
  void begin(const engine::DecodeRun& run, double stages, ReplicaTotals& totals);

  std::vector<Alike> alike_;  // by their number of decodes
};

}  // namespace llmscape::serving
