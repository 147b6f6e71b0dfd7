// SPDX-License-Identifier: Apache-2.0
#include "base/recent.hpp"
#include "hardware/cim/chip.hpp"
#include "hardware/cpu.hpp"
#include "hardware/dataflow/chip.hpp"
#include "hardware/device.hpp"
#include "hardware/gpu/gpu.hpp"
#include "hardware/profile/profile_device.hpp"
#include "hardware/roofline.hpp"
#include "hardware/split/attention_offload.hpp"
#include "hardware/split/pipeline.hpp"
#include "hardware/steps/steps_device.hpp"
#include "hardware/table/table_device.hpp"
#include "models/memory.hpp"
#include "models/token_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace llmscape::hardware {
namespace {

// A kind whose devices follow from their description alone, and open no files. The same description is the same device,
// which nobody changes: corrections that were measured have thousands of values, and sweeps name one device in each
// point.
FamilyMember<Device> remembered(FamilyMember<Device> kind) {
  constexpr std::size_t kMost = 16;
  using Known = Recent<YamlNode, std::shared_ptr<const Device>, kMost>;
  kind.read = [read = std::move(kind.read), known = std::make_shared<Known>()](
                  const YamlNode& node, Diagnostics& diagnostics) -> std::shared_ptr<const Device> {
    const auto* device = known->find([&node](const YamlNode& before) { return same(before, node); });
    if (device) return *device;
    const std::size_t said = diagnostics.size();
    auto out = read(node, diagnostics);
    if (out && diagnostics.size() == said) known->keep(node, out);
    return out;
  };
  return kind;
}

}  // namespace

Spreads Device::spreads(const models::ModelSpec&, const models::ParallelPlan&, const Settings&) const {
  Spreads spreads;
  const auto tags = provenance();
  for (std::size_t family = 0; family < spreads.size(); ++family) spreads[family] = spread_of(tags[family]);
  return spreads;
}

std::vector<std::string> weights_too_large(const Device& device, const models::ModelSpec& model,
                                           const models::ParallelPlan& plan) {
  const Bytes weights = models::memory_need(model, plan, 1, 1).weights;
  if (weights <= device.memory()) return {};
  return {
      fmt::format("{:.4g} GB of weights on each {} exceed its {:.4g} GB of memory: serving.tensor_parallel shares "
                  "them, model.weights narrows them",
                  weights.si() / 1e9, device.name, device.memory().si() / 1e9)};
}

std::vector<std::string> layers_refused(const Device& device, const models::ModelSpec& model, bool takes_budgets) {
  std::vector<std::string> found;
  if (takes_budgets ? !models::changed_in_entries_only(model) : models::changed_by_plan(model))
    found.push_back(fmt::format("'{}' prices layers whole: {} needs a device of kind gpu, cpu or roofline", device.name,
                                takes_budgets ? "a token plan that is no KV budget" : "a token plan"));
  const bool whole = std::ranges::all_of(model.groups, [](const models::LayerGroup& group) {
    return group.state({}).bytes_per_token > 0 && group.feed_forward.present();
  });
  if (!whole)
    found.push_back(
        fmt::format("'{}' prices layers of attention and feed-forward: layers with a recurrent state, or with one part "
                    "alone, need a "
                    "device of kind gpu, cpu or roofline",
                    device.name));
  return found;
}

const Family<Device>& single_devices() {
  static const Family<Device> family(
      "device", "kind",
      {
          remembered(member<Gpu, Device>("gpu", "kernels in tiles, a host and a device timeline", gpu_fields())),
          table_kind(),
          remembered(
              member<Cpu, Device>("cpu", "processor cores: a roofline with a cost for small GEMMs", cpu_fields())),
          member<Roofline, Device>("roofline", "one efficiency each for arithmetic and memory", roofline_fields()),
          member<CimDevice, Device>("cim", "compute-in-memory macros beside a streamed memory", cim_fields()),
          remembered(member<DataflowDevice, Device>("dataflow", "fused sections over sockets with three memory tiers",
                                                    dataflow_fields())),
          member<ProfileDevice, Device>(
              "profile", "a serving instance known by times of prompts and tokens of one model", profile_fields()),
      });
  return family;
}

std::vector<std::string> accuracy_warning(const std::string& device, const std::string& accuracy) {
  if (accuracy.empty()) return {};
  return {"accuracy of " + device + ": " + accuracy};
}

const Family<Device>& devices() {
  static const Family<Device> family = [] {
    std::vector<FamilyMember<Device>> kinds = single_devices().members();
    kinds.push_back(member<PipelineSplit, Device>("pipeline", "consecutive layers of a model on unlike devices",
                                                  pipeline_split_fields()));
    kinds.push_back(member<AttentionOffload, Device>(
        "attention_offload", "attention and KV cache on one device, GEMMs on another", attention_offload_fields()));
    kinds.push_back(member<StepsDevice, Device>("steps", "another device, corrected by measured steps of one model",
                                                steps_fields()));
    return Family<Device>("device", "kind", std::move(kinds));
  }();
  return family;
}

}  // namespace llmscape::hardware
