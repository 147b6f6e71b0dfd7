// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/chip.hpp"

#include <fmt/format.h>

#include "hardware/dataflow/step_model.hpp"
#include "models/memory.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

const Fields<DataflowEnergy>& dataflow_energy_fields() {
  static const Fields<DataflowEnergy> fields = [] {
    using E = DataflowEnergy;
    Fields<E> f("dataflow_energy", "dynamic energy of a dataflow socket");
    f.add("compute", &E::compute, "of an operation").required().at_least(0);
    f.add("hbm", &E::hbm, "of weights and KV read from HBM").required().at_least(0);
    f.add("sram", &E::sram, "of weights and KV through the memory among the compute units").required().at_least(0);
    f.add("link", &E::link, "of bytes sent to other sockets").required().at_least(0);
    return f;
  }();
  return fields;
}

// Before any cut: sockets share evenly.
Bytes whole_weights(const models::ModelSpec& model) { return models::memory_need(model, {}, 1, 1).weights; }

}  // namespace

Seconds DataflowDevice::model_switch(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  return switch_time(tiers, whole_weights(model), plan.devices());
}

Bytes DataflowDevice::weights(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  return whole_weights(model) / plan.devices();
}

models::MemoryNeed DataflowDevice::memory_need(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                               std::int64_t max_batched_tokens, std::int64_t max_sequences) const {
  models::MemoryNeed need = models::memory_need(model, {}, max_batched_tokens, max_sequences);
  for (Bytes* part : {&need.weights, &need.activations, &need.kv_per_token, &need.state_per_sequence})
    *part = *part / plan.devices();
  return need;
}

std::int64_t DataflowDevice::kv_tokens(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  const Bytes left = plan.devices() * memory() - whole_weights(model);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(left.si() / models::kv_bytes_per_token(model)));
}

std::vector<std::string> DataflowDevice::problems(const models::ModelSpec& model,
                                                  const models::ParallelPlan& plan) const {
  std::vector<std::string> found = layers_refused(*this, model, true);
  if (plan.data > 1 || plan.expert > 1)
    found.push_back(
        fmt::format("sockets of {} share a model by tensor and pipeline parallelism: data and expert must be 1", name));
  const Bytes share = weights(model, plan);
  if (share > memory())
    found.push_back(fmt::format("{:.1f} GB of weights on each {} exceed its {:.1f} GB of memory", share.si() / 1e9,
                                name, memory().si() / 1e9));
  return found;
}

std::optional<BytesPerSecond> DataflowDevice::load_bandwidth() const {
  if (tiers.ddr.value.si() == 0) return std::nullopt;
  return *tiers.ddr_bandwidth;
}

std::array<Tag, kOperatorFamilies> DataflowDevice::provenance() const {
  const bool streams = tiers.hbm.value.si() > 0;
  const Tag channel = streams ? weaker(tiers.hbm_bandwidth.tag, tiers.hbm_efficiency.tag) : tiers.sram_bandwidth.tag;
  const Tag memory = weaker(channel, fabric.fill.tag);
  const Tag compute = weaker(fabric.peak.tag, fabric.compute_efficiency.tag);
  return {memory,  weaker(memory, fabric.routed_layer.tag),
          compute, memory,
          compute, fabric.link_bandwidth.tag,
          memory,  *per_request > Seconds() ? weaker(call.tag, per_request.tag) : call.tag};
}

std::vector<HostDriven> DataflowDevice::hosts(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  if (*per_request == Seconds()) return {};
  HostParameters host;
  host.per_request = *per_request;
  return {{host, false, model, plan}};
}

std::unique_ptr<StepModel> DataflowDevice::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                                const Settings& settings) const {
  return std::make_unique<DataflowStepModel>(*this, model, plan, settings.coverage);
}

const Fields<DataflowDevice>& dataflow_fields() {
  static const Fields<DataflowDevice> fields = [] {
    using D = DataflowDevice;
    Fields<D> f("dataflow", "a socket of a spatial machine: fused sections, three memories, static shapes");
    add_common_fields(f);
    f.add_group("memory", &D::tiers, memory_tiers_fields(), "its memories").required();
    f.add_group("fabric", &D::fabric, fabric_fields(), "its compute units and links").required();
    f.add_group("shapes", &D::shapes, static_shapes_fields(), "the shapes that graphs are compiled for");
    f.add("hardware_loop", &D::hardware_loop, "the layers of a step are one call; otherwise each section is");
    f.add("call", &D::call, "starting one call").required().at_least(0);
    f.add("per_request", &D::per_request, "of the host, for each sequence of a step: its tokens drawn and handed on")
        .at_least(0);
    f.add("streams_embedding", &D::streams_embedding,
          "a step reads the whole input embedding with the head, not one row per token");
    f.add("idle_power", &D::idle, "power when idle").required().at_least(0);
    f.add_group("energy", &D::energy, dataflow_energy_fields(), "dynamic energy").required();
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
