// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/batch.hpp"
#include "sim/engine/engine_model.hpp"
#include "sim/serving/replica/per_law.hpp"
#include "sim/serving/replica/reach.hpp"
#include "sim/serving/replica/step_plan.hpp"

namespace llmscape::serving {

// Where a replica works out a step: read while it is planned and priced, and not once it is committed. Replicas that do
// so one after the other share one: in a fleet it stays in the caches, as nothing of a replica does.
struct StepWork {
  StepPlan plan;
  std::vector<models::PrefillChunk> chunks;  // of the plan, as a batch has them
  engine::DecodeRun run;                     // of the decodes that were priced last
  hardware::OwnAttention own;                // and the last of its steps
  PerLaw<std::int64_t> attended;             // by steps that are committed together, by KV law
  Reaches reaches;                           // of steps that are priced ahead; learned by all
};

}  // namespace llmscape::serving
