// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/engine/engine_model.hpp"

namespace llmscape::serving {

// How the work of a step is split over passes of the device: what is priced, how often, and in how much of the layers.
// A batcher whose steps are not one pass of all the work hands one over with its plan (StepPlan::shape), and whoever
// prices the step asks it without knowing the batcher; steps that are priced ahead of the clock too.
class StepShape {
 public:
  virtual ~StepShape() = default;
  // What the step costs, `batch` being all its work.
  [[nodiscard]] virtual engine::EngineCost price(engine::EngineModel& model, const models::Batch& batch) const = 0;
  // Share of the layers that the step's chunks pass, above 0 to 1: Batch::prefill_layers of that batch, which also says
  // how much of their KV entries is written.
  [[nodiscard]] virtual double chunk_layers() const { return 1; }
};

}  // namespace llmscape::serving
