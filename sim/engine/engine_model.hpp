// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hardware/decode_steps.hpp"
#include "hardware/device.hpp"
#include "sim/engine/host_timeline.hpp"

namespace llmscape::engine {

// What one step costs a replica: its devices, and the engine on the host that drives them.
struct EngineCost : hardware::StepCost {
  Seconds host;  // before the step can begin: scheduling, inputs
  // The host launches kernels, or graphs of them, beside the device: a step (a stage) lasts for the longer of both.
  Seconds launch;
  Seconds sync;       // the device waits for the host this long, even where their timelines overlap
  Joules drafting{};  // of users' devices that make its drafts: not among `energy`
  // Of a stage: whichever of its two timelines takes longer.
  [[nodiscard]] Seconds stage() const { return device > launch ? device : launch; }
  // What the family `host` takes: `host`, and launches beyond the device. The other families sum to `device`.
  void settle_host() {
    by_family[static_cast<std::size_t>(hardware::OperatorFamily::host)] = host + (stage() - device);
  }
};

// Steps of decodes alone that differ in nothing but what they attend to, as an engine runs them.
struct DecodeRun {
  std::shared_ptr<const hardware::DecodeSteps> steps;
  Seconds host, launch, sync;
  std::int64_t decodes = 0, adapters = 0;  // the same steps of one engine, where both are the same
  // Is that one from now on. Where both are of the same steps no reference is counted: this is done in every step.
  void become(const DecodeRun& other) {
    if (steps != other.steps) steps = other.steps;
    host = other.host;
    launch = other.launch;
    sync = other.sync;
    decodes = other.decodes;
    adapters = other.adapters;
  }
  [[nodiscard]] EngineCost cost(const hardware::OwnAttention& own) const {
    EngineCost cost{steps->cost(own), host, launch, sync};
    cost.settle_host();
    return cost;
  }
};

// What a version of an engine takes of the host beside what the device's entry says of one (HostParameters), which is
// that of current engines: inputs, block tables, sampling, detokenising. The device waits for it, whatever is scheduled
// beside the step.
struct EngineHost {
  Seconds per_step, per_sequence;
  [[nodiscard]] Seconds time(const models::Batch& batch) const {
    return per_step + (static_cast<double>(batch.decodes) + static_cast<double>(batch.chunks.size())) * per_sequence;
  }
};

// The serving choices that change what a step costs.
struct Settings {
  Graphs graphs;
  EngineHost host;
  hardware::Device::Settings device;
};

// Prices the steps of one replica as an engine runs them: device kind, model, parallel plan and settings, bound
// together. Calls are not thread-safe.
class EngineModel {
 public:
  virtual ~EngineModel() = default;
  // As hardware::StepModel::step; a batch with no work costs the host's time of an empty step.
  virtual EngineCost step(const models::Batch&) = 0;
  // The same in two parts. `run` becomes that of which `batch`, of decodes alone, is one; false where each has to be
  // priced by itself. And one of them: its attention, or false where it has to be priced by itself.
  virtual bool decode_run(const models::Batch& /*batch*/, DecodeRun& /*run*/) { return false; }
  virtual bool attend(const DecodeRun& /*run*/, const models::Batch& /*batch*/, hardware::OwnAttention& /*own*/) {
    return false;
  }
  [[nodiscard]] virtual std::vector<std::string> range_warnings() const { return {}; }
};

// A device as its hosts drive it. Those of a device of several parts work at the same time: the slowest counts.
std::unique_ptr<EngineModel> bind(const hardware::Device&, const models::ModelSpec&, const models::ParallelPlan&,
                                  const Settings&);

}  // namespace llmscape::engine
