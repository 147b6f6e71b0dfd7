// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "hardware/collectives.hpp"
#include "hardware/device.hpp"
#include "hardware/peaks.hpp"
#include "hardware/power.hpp"

namespace llmscape::hardware {

// An accelerator that is known by its data sheet, or by a published speed or two: each operator takes `per_operator`
// and the longer of its arithmetic and its memory traffic, at one efficiency each.
struct Roofline final : Device, Peaks, PowerRange {
  std::string accuracy;  // what its predictions are worth, in the words of who described it
  Sourced<BytesPerSecond> memory_bandwidth;
  Sourced<Bytes> memory_capacity;
  Sourced<double> compute_efficiency, attention_efficiency;  // shares of the peak
  Sourced<double> memory_efficiency;                         // share of the bandwidth
  Sourced<Seconds> per_operator, per_step, per_request;
  std::int64_t prompt_tile = 1;  // prompt tokens of a step are padded to multiples of it: compiled shapes
  std::optional<Links> links;    // absent: a device works alone
  std::optional<Sourced<BytesPerSecond>> load;  // from the host's memory
  Sourced<JoulesPerFlop> compute_energy;        // of bf16 work; narrower formats take less as their peak is higher
  Sourced<JoulesPerByte> memory_energy, link_energy;

  [[nodiscard]] Bytes memory() const override { return *memory_capacity; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] Watts headroom() const override { return limit() - *idle; }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return {weaker(compute_energy.tag, memory_energy.tag), idle.tag};
  }
  [[nodiscard]] std::optional<BytesPerSecond> load_bandwidth() const override {
    return load ? std::optional(**load) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] bool takes_adapters() const override { return true; }
  [[nodiscard]] bool takes_execution() const override { return true; }
  [[nodiscard]] bool computes_as_wider(const models::Format& inputs) const override { return !states(inputs); }
  [[nodiscard]] bool has_rate_for(const models::Format& inputs) const override { return states(inputs); }
  [[nodiscard]] std::optional<double> operational_intensity() const override {
    return peak_bf16.value.si() / memory_bandwidth.value.si();
  }
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};

const Fields<Roofline>& roofline_fields();

}  // namespace llmscape::hardware
