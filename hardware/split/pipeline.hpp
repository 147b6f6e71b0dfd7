// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/split/link.hpp"
#include "hardware/split/part.hpp"

namespace llmscape::hardware {

struct PipelineStage {
  PartDevice device;
  std::int64_t layers = 0;
};

// Stages of consecutive layers on unlike devices. A batch passes them one after the other, alone, as it does equal
// stages; the hidden states of its tokens cross a link between them. The first stage has the embedding, the last the
// head and the sampling; the others read what arrives as the first reads rows of the embedding. One such device is a
// whole replica.
struct PipelineSplit final : Device {
  std::vector<PipelineStage> stages;
  SplitLink link;
  double memory_utilization = 0.9;  // of each part's memory, for weights and KV

  // The part of the model that a stage has.
  [[nodiscard]] std::vector<models::ModelSpec> parts_of(const models::ModelSpec&) const;

  [[nodiscard]] Bytes memory() const override;
  [[nodiscard]] Watts idle_power() const override;
  [[nodiscard]] Watts headroom() const override;
  [[nodiscard]] EnergyBoundary boundary() const override;
  [[nodiscard]] EnergyTags energy_tags() const override;
  [[nodiscard]] std::int64_t parts() const override;
  [[nodiscard]] std::optional<Arithmetic> arithmetic() const override;
  [[nodiscard]] bool computes_as_wider(const models::Format& inputs) const override;
  [[nodiscard]] std::vector<KvPart> kv_parts(const models::ModelSpec&) const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};
const Fields<PipelineSplit>& pipeline_split_fields();

}  // namespace llmscape::hardware
