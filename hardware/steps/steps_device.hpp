// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hardware/device.hpp"
#include "hardware/steps/composition.hpp"

namespace llmscape::hardware {

// A step that an engine took, and for how many like it this one stands.
struct MeasuredStep : StepComposition {
  Seconds time;  // of the device, in which its host's work is not contained
  std::int64_t count = 1;
};
const Fields<MeasuredStep>& measured_step_fields();

// What steps were measured with, where a run has to be of the same.
struct MeasuredWith {
  std::string model;
  std::string weights, kv;                                      // formats; empty: whatever the model has
  std::int64_t tensor = 1, pipeline = 1, expert = 1, data = 1;  // degrees
};
const Fields<MeasuredWith>& measured_with_fields();

// A device whose steps were measured while it served one model: near measured steps a step takes what those took,
// by their ratio to the prices of the device that they were measured on; elsewhere it takes what `device` says
// (StepCorrection). Joules, memory and hosts are those of `device`; where a step then drew more than its power limit
// leaves, it took as many joules as that.
struct StepsDevice final : Device {
  std::shared_ptr<const Device> device;
  std::shared_ptr<const Device> measured_on;  // none: `device`
  MeasuredWith with;
  std::string source;
  std::vector<MeasuredStep> steps;
  double smoothing = 0.25, reach = 1;  // doublings, as of StepCorrection

  [[nodiscard]] Bytes memory() const override { return device->memory(); }
  [[nodiscard]] Bytes runtime_memory() const override { return device->runtime_memory(); }
  [[nodiscard]] Watts idle_power() const override { return device->idle_power(); }
  [[nodiscard]] Watts headroom() const override { return device->headroom(); }
  [[nodiscard]] Watts active_power() const override { return device->active_power(); }
  [[nodiscard]] EnergyBoundary boundary() const override { return device->boundary(); }
  [[nodiscard]] EnergyTags energy_tags() const override { return device->energy_tags(); }
  [[nodiscard]] std::int64_t parts() const override { return device->parts(); }
  [[nodiscard]] std::optional<BytesPerSecond> load_bandwidth() const override { return device->load_bandwidth(); }
  [[nodiscard]] std::optional<Bytes> storage() const override { return device->storage(); }
  [[nodiscard]] Bytes weights(const models::ModelSpec& model, const models::ParallelPlan& plan) const override {
    return device->weights(model, plan);
  }
  [[nodiscard]] models::MemoryNeed memory_need(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                               std::int64_t max_batched_tokens,
                                               std::int64_t max_sequences) const override {
    return device->memory_need(model, plan, max_batched_tokens, max_sequences);
  }
  [[nodiscard]] std::int64_t kv_tokens(const models::ModelSpec& model,
                                       const models::ParallelPlan& plan) const override {
    return device->kv_tokens(model, plan);
  }
  [[nodiscard]] std::optional<Arithmetic> arithmetic() const override { return device->arithmetic(); }
  [[nodiscard]] bool computes_as_wider(const models::Format& inputs) const override {
    return device->computes_as_wider(inputs);
  }
  [[nodiscard]] std::optional<double> operational_intensity() const override { return device->operational_intensity(); }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override { return device->provenance(); }
  [[nodiscard]] Spreads spreads(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                const Settings& settings) const override {
    return device->spreads(model, plan, settings);
  }
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec& model,
                                              const models::ParallelPlan& plan) const override {
    return device->hosts(model, plan);
  }
  [[nodiscard]] std::string kernels() const override { return device->kernels(); }
  [[nodiscard]] std::string step_table() const override;
  [[nodiscard]] std::shared_ptr<const Device> with_kernels_of(const std::string& engine) const override;
  [[nodiscard]] bool takes_adapters() const override { return device->takes_adapters(); }
  [[nodiscard]] bool takes_execution() const override { return device->takes_execution(); }
  [[nodiscard]] bool passes_tokens_on() const override { return device->passes_tokens_on(); }
  [[nodiscard]] bool has_rate_for(const models::Format& inputs) const override { return device->has_rate_for(inputs); }
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};
const Fields<StepsDevice>& steps_fields();

}  // namespace llmscape::hardware
