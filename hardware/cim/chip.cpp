// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/chip.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/cim/step_model.hpp"
#include "models/memory.hpp"

namespace llmscape::hardware {
namespace {

const Fields<CimEnergy>& cim_energy_fields() {
  static const Fields<CimEnergy> fields = [] {
    using E = CimEnergy;
    Fields<E> f("cim_energy", "dynamic energy of a chip that computes in memory");
    f.add("write", &E::write, "of weights written into macros").required().at_least(0);
    f.add("activation", &E::activation, "of activations in and out of the macros").required().at_least(0);
    f.add("multiply_add", &E::multiply_add,
          "of a multiply-add by 4 bits of weight, in the cells and a digital adder tree")
        .required()
        .at_least(0);
    f.add("conversion", &E::conversion, "of a conversion at 8 bits in an analogue macro").at_least(0);
    f.add("vector", &E::vector, "of an operation of the vector unit").required().at_least(0);
    return f;
  }();
  return fields;
}

void check_formats(const CimDevice& chip, const YamlNode& node, Diagnostics& diagnostics) {
  if (chip.weight_formats.empty()) diagnostics.error(node.where, "'weight_formats' names no format");
  if (*chip.macro.adc_bits > 0 && chip.energy.conversion.value.si() == 0)
    diagnostics.error(node.where, "an analogue macro needs the energy of a conversion: 'energy.conversion'");
}

}  // namespace

std::int64_t CimDevice::pinnable_macros() const {
  return static_cast<std::int64_t>(std::floor(*pinned_share * static_cast<double>(macros())));
}

std::int64_t CimDevice::computing_macros(std::int64_t pinned) const {
  const auto streaming = static_cast<double>(macros() - pinned);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(*active_share * streaming)));
}

Bytes CimDevice::weight_capacity(const models::Format& weights) const {
  return Bytes(static_cast<double>(macros() * *macro.rows * weight_columns(macro, weights)) * weights.bytes);
}

models::MemoryNeed CimDevice::memory_need(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                          std::int64_t max_batched_tokens, std::int64_t max_sequences) const {
  models::MemoryNeed need = models::memory_need(model, plan, max_batched_tokens, max_sequences);
  const StepShape shape(model, {});
  const Mapping mapping(shape, macro, pinnable_macros());
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    const LayerShape& layer = shape.layers[i];
    need.weights -= mapping.layers[i].pinned * (layer.common.bytes + layer.experts * layer.expert.bytes);
  }
  if (mapping.head_pinned && !model.tied_embeddings) need.weights -= shape.head.bytes;
  return need;
}

std::vector<std::string> CimDevice::problems(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  std::vector<std::string> found = layers_refused(*this, model);
  if (plan.all_devices() > 1 || plan.expert > 1)
    found.push_back(fmt::format("{} runs a model on one chip: every degree of parallelism must be 1", name));
  const auto holds = [&](const models::Format& format) {
    return std::find(weight_formats.begin(), weight_formats.end(), format.name) != weight_formats.end() &&
           weight_columns(macro, format) > 0;
  };
  for (const auto& format : {model.precision.weights, model.precision.expert_weights(),
                             model.precision.embedding_weights(), model.precision.head_weights()})
    if (!holds(format))
      found.push_back(fmt::format("the macros of {} hold weights in {}, not in {}", name,
                                  fmt::join(weight_formats, " or "), format.name));
  const models::Precision& stored = model.precision;
  for (const models::LayerGroup& group : model.groups)
    for (const auto* format :
         {&group.attention_weights(stored), &group.output_weights(stored), &group.dense_weights(stored)})
      if (*format != stored.weights)
        found.push_back(fmt::format("the macros of {} hold all weights of a layer in one format, {}, not some in {}",
                                    name, stored.weights.name, format->name));
  const models::KvFormat& kv = model.precision.kv;
  if (attention == AttentionUnit::macros && (!holds(kv.keys) || !holds(kv.values)))
    found.push_back(fmt::format("attention in the macros of {} needs a KV cache in {}, not in {}", name,
                                fmt::join(weight_formats, " or "), kv.name()));
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (!found.empty()) return found;

  const Bytes beside = memory_need(model, plan, 1, 1).weights;
  if (beside > memory())
    found.push_back(fmt::format("{:.1f} GB of weights {}exceed the {:.1f} GB of memory of {}", beside.si() / 1e9,
                                beside < weights(model, plan) ? "beside those that its macros keep " : "",
                                memory().si() / 1e9, name));
  const Mapping mapping(StepShape(model, {}), macro, pinnable_macros());
  if ((mapping.streams() || attention == AttentionUnit::macros) && mapping.pinned_macros == macros())
    found.push_back(fmt::format("pinned layers fill all macros of {}: none is left for the rest of the model", name));
  return found;
}

std::array<Tag, kOperatorFamilies> CimDevice::provenance() const {
  const Tag transfer = dram.bandwidth_tag();
  const Tag linear = weaker(transfer, weaker(clock.tag, weaker(macro.rows.tag, macros_per_tile.tag)));
  const Tag vector = vector_throughput.tag;
  const Tag attending = weaker(transfer, attention == AttentionUnit::vector ? vector : linear);
  return {linear, linear, attending, attending, vector, Tag::assumed, vector, Tag::assumed};
}

std::unique_ptr<StepModel> CimDevice::bind(const models::ModelSpec& model, const models::ParallelPlan&,
                                           const Settings& settings) const {
  return std::make_unique<CimStepModel>(*this, model, settings.coverage);
}

const Fields<CimDevice>& cim_fields() {
  static const Fields<CimDevice> fields = [] {
    using D = CimDevice;
    Fields<D> f("cim", "a chip that multiplies weights where they are stored");
    add_common_fields(f);
    f.add_group("macro", &D::macro, macro_fields(), "one array of cells").required();
    f.add("clock", &D::clock, "clock of the macros").required().above(0);
    f.add("clusters", &D::clusters, "clusters of the chip").at_least(1);
    f.add("tiles_per_cluster", &D::tiles_per_cluster, "tiles of a cluster").at_least(1);
    f.add("macros_per_tile", &D::macros_per_tile, "macros of a tile").required().at_least(1);
    f.add_enum("packing", &D::packing, {{"packed", Packing::packed}, {"by_matrix", Packing::by_matrix}},
               "whether tiles of different matrices share a round of the macros");
    f.add_enum("overlap", &D::overlap,
               {{"none", Overlap::none}, {"staged", Overlap::staged}, {"rotating", Overlap::rotating}},
               "how weights arrive: after computing, into a buffer meanwhile, or into macros that are not active");
    f.add_enum(
        "attention", &D::attention, {{"vector", AttentionUnit::vector}, {"macros", AttentionUnit::macros}},
        "where scores and values are multiplied: on the vector unit, or in macros that K and V are written into");
    f.add("active_share", &D::active_share, "share of the streaming macros that computes while the others are written")
        .above(0)
        .at_most(1);
    f.add("pinned_share", &D::pinned_share, "share of the macros that keeps whole layers for good").between(0, 1);
    f.add(
        "pipelined", &D::pipelined,
        "tokens of a step follow one another through the matrices that macros keep, which all work at once; else each "
        "matrix takes all tokens in its turn");
    f.add("weight_formats", &D::weight_formats, "formats of weights that the macros multiply").required();
    f.add_group("dram", &D::dram, dram_fields(), "memory beside the macros").preset_from("dram").required();
    f.add("storage_bandwidth", &D::storage_bandwidth, "of the flash that weights are loaded from; absent: none")
        .above(0);
    f.add("buffer", &D::buffer, "SRAM for the activations of a GEMM; what it cannot hold passes through the memory")
        .required()
        .above(0);
    f.add("streams_embedding", &D::streams_embedding,
          "a step reads the whole input embedding with the head, not one row per token");
    f.add("vector_throughput", &D::vector_throughput, "operations on pairs of activations: attention, norms")
        .required()
        .above(0);
    f.add("fill", &D::fill, "time at the start of a step that nothing overlaps").at_least(0);
    f.add("static_power", &D::static_power, "power of the chip and its memory at rest").required().at_least(0);
    f.add_group("energy", &D::energy, cim_energy_fields(), "dynamic energy").required();
    f.check(check_formats);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
