// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/step_shape.hpp"
#include "hardware/step_tables.hpp"
#include "hardware/table/attention_tables.hpp"
#include "hardware/table/table_device.hpp"

#include <initializer_list>

namespace llmscape::hardware {

// Looks steps of one model up: a step is its layers, each of which runs its attention and calls every dense entry once
// (the norm twice) or the expert block, then embedding, last norm, head and sampler once.
class TableStepModel final : public StepModel {
 public:
  // What the tables lack for this model, one sentence each; with any of it there is no model to build.
  static std::vector<std::string> missing(const traces::LayerTables& tables, const models::ModelSpec& model);

  TableStepModel(const TableDevice& device, const traces::LayerTables& tables, const models::ModelSpec& model,
                 const models::ParallelPlan& plan, const Device::Settings& settings);
  TableStepModel(const TableStepModel&) = delete;  // the collectives are priced through it
  TableStepModel& operator=(const TableStepModel&) = delete;
  StepPhases phases(const models::Batch& batch) override;
  [[nodiscard]] std::vector<std::string> range_warnings() const override;

 private:
  Seconds look_up(const Grid& grid, std::initializer_list<double> point, OperatorFamily family);
  // Remembers that a step of the family left its table, which covers `range`.
  void note(OperatorFamily family, std::string_view range);
  void add_work(StepPhases& phases, const models::Batch& batch) const;

  TableDevice device_;
  models::ModelSpec model_;
  models::ParallelPlan plan_;
  StepShape shape_;
  Grid products_, streams_;  // by tokens: all GEMMs and all that only streams, of a whole step, in seconds
  Grid head_, sampler_;      // by sequences
  Grid experts_;             // one layer's, by tokens and experts touched
  AttentionTables attention_;
  StepTables collectives_;
  std::array<std::string, kOperatorFamilies> outside_;  // the range that a family has left; empty: none
};

}  // namespace llmscape::hardware
