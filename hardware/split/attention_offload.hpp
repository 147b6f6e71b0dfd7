// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/split/link.hpp"
#include "hardware/split/part.hpp"

namespace llmscape::hardware {

// Attention (scores and values, and the KV cache) on one device, every GEMM with weights on another, as in Lamina
// (arXiv 2405.01814) and in attention and feed-forward disaggregation. In each layer queries and new KV entries cross a
// link to the attention and its output comes back. One such device is a whole replica.
//
// Simplified: the two work in turn (no second batch fills the gaps), what a step sends in a layer goes in one message
// each way, latent attention crosses as decodes have it, absorbed, and the energy of moving activations around
// attention, a few per cent of a prompt's, counts on both.
struct AttentionOffload final : Device {
  PartDevice attention, weights;
  SplitLink link;
  double memory_utilization = 0.9;  // of the memory of `attention`, for KV

  [[nodiscard]] Bytes memory() const override { return memory_of(*attention) + memory_of(*weights); }
  [[nodiscard]] Watts idle_power() const override { return idle_power_of(*attention) + idle_power_of(*weights); }
  [[nodiscard]] Watts headroom() const override { return headroom_of(std::array{attention, weights}); }
  [[nodiscard]] EnergyBoundary boundary() const override {
    return boundary_of(energy_boundary, std::array{attention, weights});
  }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return weaker(attention->energy_tags(), weights->energy_tags());
  }
  [[nodiscard]] std::int64_t parts() const override { return attention->count + weights->count; }
  [[nodiscard]] std::optional<Arithmetic> arithmetic() const override { return weights->arithmetic(); }
  [[nodiscard]] bool computes_as_wider(const models::Format& inputs) const override {
    return weights->computes_as_wider(inputs);
  }
  [[nodiscard]] std::vector<KvPart> kv_parts(const models::ModelSpec&) const override;
  [[nodiscard]] std::optional<Bytes> weight_memory() const override { return memory_of(*weights); }
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] Spreads spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};
const Fields<AttentionOffload>& attention_offload_fields();

}  // namespace llmscape::hardware
