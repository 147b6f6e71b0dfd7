// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "hardware/fit.hpp"
#include "models/model.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::hardware {

// What the host does for a step: schedule, prepare inputs, launch. At most these constants may come from an engine run.
// How they add up is the engine's affair (sim/engine/host_timeline.hpp).
struct HostParameters : Fit {
  Seconds per_step;
  Seconds per_request;
  Seconds graph_launch;         // one captured graph: of the whole step, or of a piece
  Seconds per_kernel;           // an operator that Python launches by itself
  Seconds per_compiled_kernel;  // a kernel of compiled code that no graph holds
  Seconds per_prefill_step;     // of a step with prompt chunks, on top: what no scheduling hides
};
const Fields<HostParameters>& host_fields();

// A host, and what the devices that it drives run of a model.
struct HostDriven {
  HostParameters host;
  bool graphs = false;  // kernels can be captured in graphs
  models::ModelSpec model;
  models::ParallelPlan plan;
};

}  // namespace llmscape::hardware
