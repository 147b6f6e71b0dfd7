// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/dataflow/chip.hpp"
#include "hardware/step_shape.hpp"

namespace llmscape::hardware {

// Prices the steps of one model: step = sum t_s + n_calls t_call (cost-model 6). A layer is one or more sections; how
// many is worked out once. Under pipeline parallelism consecutive layers lie on groups of sockets of their own, and the
// tiles of a step stream through the groups: the first passes in the sum of their times, and what the others add to a
// section's time is added once, as all groups work on them at once. The time is an even part of that, as the contract
// has it.
class DataflowStepModel final : public StepModel {
 public:
  DataflowStepModel(DataflowDevice, const models::ModelSpec&, const models::ParallelPlan&,
                    const models::ExpertCoverage&);
  StepPhases phases(const models::Batch&) override;

 private:
  using Loads = std::array<SectionLoad, kOperatorFamilies>;
  // Of one layer of a group, and of the head.
  [[nodiscard]] Loads layer_loads(const LayerShape&, const LayerLoad&, double tokens) const;
  [[nodiscard]] Loads head_loads(const models::Batch&) const;
  [[nodiscard]] bool resident(const models::Batch&) const;
  // Adds `count` parts of the network alike, each cut into `sections`.
  void add(StepPhases&, const Loads&, double count, std::int64_t sections, const SectionRun&) const;
  // How long the tiles of a section that takes `in_turn` for all of them hold up a step.
  [[nodiscard]] Seconds through_groups(const SectionLoad& all, const SectionRun&, Seconds in_turn) const;
  // Calls, and the way through the groups of sockets.
  void finish(StepPhases&, double tokens) const;

  DataflowDevice socket_;
  StepShape shape_;
  PaddedBatch padded_;
  int sockets_, groups_;                // sockets that share a layer, and such groups
  Bytes weights_held_;                  // by all sockets
  Bytes sent_per_layer_;                // by a socket, for one token
  Bytes hidden_state_;                  // of one token
  std::vector<std::int64_t> sections_;  // of one layer of each group
  std::int64_t head_sections_ = 0;
  double calls_ = 0;  // of a step
};

}  // namespace llmscape::hardware
