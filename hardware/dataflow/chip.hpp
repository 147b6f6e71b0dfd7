// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/dataflow/sections.hpp"
#include "hardware/dataflow/shapes.hpp"
#include "hardware/device.hpp"

namespace llmscape::hardware {

struct DataflowEnergy {
  Sourced<JoulesPerFlop> compute;
  Sourced<JoulesPerByte> hbm;
  Sourced<JoulesPerByte> sram;  // of weights and KV through the memory among the compute units
  Sourced<JoulesPerByte> link;
};

// One socket of a spatial machine: the network is laid out on its compute units section by section, and the sections of
// a step follow one another without launches. `tensor` sockets share a layer: each holds and reads an even part of its
// weights and of the KV cache, so that nothing is replicated as it is between GPUs; `pipeline` such groups share the
// layers. Priced by closed forms (cost-model 6).
struct DataflowDevice final : Device {
  MemoryTiers tiers;
  Fabric fabric;
  StaticShapes shapes;
  bool hardware_loop = true;       // the layers of a step are one call; else each section is
  Sourced<Seconds> call;           // starting one
  Sourced<Seconds> per_request;    // of the host, for each sequence of a step: its tokens drawn and handed on
  bool streams_embedding = false;  // a step reads the whole input embedding, not a row per token
  Sourced<Watts> idle;
  DataflowEnergy energy;

  // Time until a model whose weights stand in DDR can run.
  [[nodiscard]] Seconds model_switch(const models::ModelSpec&, const models::ParallelPlan&) const;

  [[nodiscard]] Bytes memory() const override { return tiers.hbm.value.si() > 0 ? *tiers.hbm : *tiers.sram; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] bool passes_tokens_on() const override { return true; }
  [[nodiscard]] bool computes_as_wider(const models::Format&) const override { return true; }
  [[nodiscard]] EnergyTags energy_tags() const override {
    return {weaker(energy.compute.tag, weaker(energy.hbm.tag, energy.sram.tag)), idle.tag};
  }
  [[nodiscard]] std::optional<BytesPerSecond> load_bandwidth() const override;
  [[nodiscard]] std::optional<Bytes> storage() const override { return *tiers.ddr; }
  [[nodiscard]] Bytes weights(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] models::MemoryNeed memory_need(const models::ModelSpec&, const models::ParallelPlan&,
                                               std::int64_t max_batched_tokens,
                                               std::int64_t max_sequences) const override;
  [[nodiscard]] std::int64_t kv_tokens(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] std::vector<HostDriven> hosts(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;
};
const Fields<DataflowDevice>& dataflow_fields();

}  // namespace llmscape::hardware
