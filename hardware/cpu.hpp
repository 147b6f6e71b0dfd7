// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cpu_forms.hpp"
#include "hardware/device.hpp"
#include "hardware/power.hpp"

namespace llmscape::hardware {

// Processor cores that run a model with prepacked GEMMs and paged attention.
struct Cpu final : Device, PowerRange {
  std::int64_t threads = 1;
  CpuProducts products;
  CpuAttention prefill_attention, decode_attention;
  CpuElementwise elementwise;
  Sourced<Bytes> capacity;
  Sourced<Seconds> per_step, per_request;
  Sourced<JoulesPerFlop> compute_energy;
  Sourced<JoulesPerByte> memory_energy;

  [[nodiscard]] Bytes memory() const override { return *capacity; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] Watts headroom() const override { return limit() - *idle; }
  [[nodiscard]] bool computes_as_wider(const models::Format&) const override { return true; }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return {weaker(compute_energy.tag, memory_energy.tag), idle.tag};
  }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] bool takes_adapters() const override { return true; }
  [[nodiscard]] bool takes_execution() const override { return true; }
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};

const Fields<Cpu>& cpu_fields();

}  // namespace llmscape::hardware
