// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/collectives.hpp"
#include "hardware/device.hpp"

#include <filesystem>

namespace llmscape::hardware {

// A device known by the times of the layers of some models, measured inside a serving engine: steps are looked up, not
// computed. It says nothing about models, degrees or formats that were not measured.
struct TableDevice final : Device {
  std::string tables;            // as written
  std::filesystem::path folder;  // where that is: MODEL/tpN/*.csv below it, as traces::read_layer_tables reads them
  Sourced<Bytes> capacity, runtime_reserve;
  Sourced<Watts> idle, busy;
  // What its work and traffic are measured against: absent, nothing says how busy the parts are.
  std::optional<Sourced<FlopsPerSecond>> peak_bf16;
  std::optional<Sourced<BytesPerSecond>> memory_bandwidth;
  Links links;
  HostParameters host;

  [[nodiscard]] Bytes memory() const override { return *capacity; }
  [[nodiscard]] Bytes runtime_memory() const override { return *runtime_reserve; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] std::optional<double> operational_intensity() const override {
    if (!peak_bf16 || !memory_bandwidth) return std::nullopt;
    return peak_bf16->value.si() / memory_bandwidth->value.si();
  }
  [[nodiscard]] Watts active_power() const override { return *busy - *idle; }
  [[nodiscard]] EnergyTags energy_tags() const override { return {busy.tag, idle.tag}; }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec& model,
                                              const models::ParallelPlan& plan) const override {
    return {{host, true, model, plan}};
  }
  // Throws std::invalid_argument where problems() has something to say.
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;

 private:
  [[nodiscard]] std::filesystem::path folder_of(const models::ModelSpec&, const models::ParallelPlan&) const;
};

const Fields<TableDevice>& table_fields();
// What the value of `tables` names: relative to the file that it was read from, or to where the program was called.
std::filesystem::path tables_folder(const YamlNode& tables);
// The row of the kind.
FamilyMember<Device> table_kind();

}  // namespace llmscape::hardware
