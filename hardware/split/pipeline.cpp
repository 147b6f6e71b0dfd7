// SPDX-License-Identifier: Apache-2.0
#include "hardware/split/pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/model_parts.hpp"
#include "models/operator_list.hpp"

namespace llmscape::hardware {
namespace {

class PipelineStepModel final : public StepModel {
 public:
  PipelineStepModel(PipelineSplit device, const models::ModelSpec& model, const Device::Settings& settings)
      : device_(std::move(device)),
        hidden_state_(static_cast<double>(model.hidden) * models::hidden_format(model.precision).bytes) {
    const auto laws = models::kv_laws(model);
    const auto parts = device_.parts_of(model);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Device& part = *device_.stages[i].device;
      Stage& stage = stages_.emplace_back();
      stage.steps = part.bind(parts[i], plan_of(part), settings);
      for (const std::int64_t law : models::kv_laws(parts[i]))
        stage.laws.push_back(static_cast<std::size_t>(std::ranges::find(laws, law) - laws.begin()));
    }
  }

  StepPhases phases(const models::Batch& batch) override {
    StepPhases sum;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const bool last = i + 1 == stages_.size();
      const StepPhases part = stages_[i].steps->phases(of_stage(batch, stages_[i]));
      for (std::size_t f = 0; f < kOperatorFamilies; ++f) add_time(sum, part, f);
      sum.extrapolated += part.extrapolated;
      add_work(sum, part, *device_.stages[i].device);
      if (!last && batch.tokens() > 0)
        add_crossings(sum, device_.link, 1, static_cast<double>(batch.tokens()) * hidden_state_);
    }
    return sum;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    std::vector<std::string> all;
    for (const Stage& stage : stages_)
      for (std::string& warning : stage.steps->range_warnings()) all.push_back(std::move(warning));
    return all;
  }

 private:
  struct Stage {
    std::unique_ptr<StepModel> steps;
    std::vector<std::size_t> laws;  // which of the model's KV laws its layers have
  };

  models::Batch of_stage(const models::Batch& batch, const Stage& stage) {
    models::Batch part = batch;
    attended_.clear();
    if (batch.decodes > 0)
      for (const std::size_t law : stage.laws) attended_.push_back(batch.attended[law]);
    part.attended = attended_;
    return part;
  }

  PipelineSplit device_;
  Bytes hidden_state_;  // of one token
  std::vector<Stage> stages_;
  std::vector<models::Attended> attended_;
};

// The embedding, which the first stage has besides its layers.
Bytes embedding_of(const models::ModelSpec& model, std::size_t stage) {
  if (stage > 0) return Bytes();
  const double bytes = model.precision.embedding_weights().bytes_with_scales();
  return Bytes(static_cast<double>(models::table_parameters(model)) * bytes);
}

std::string role(std::size_t stage, const Device& device) {
  return fmt::format("stage {} ({})", stage + 1, device.name);
}

const Fields<PipelineStage>& stage_fields() {
  static const Fields<PipelineStage> fields = [] {
    Fields<PipelineStage> f("pipeline_stage", "consecutive layers, and what they lie on");
    f.add_family("device", &PipelineStage::device, single_devices(),
                 "the device; `count` of them share each layer by tensor parallelism")
        .preset_from("hardware")
        .required();
    f.add("layers", &PipelineStage::layers, "layers of the model that it has").required().between(1, 1e6);
    return f;
  }();
  return fields;
}

}  // namespace

std::vector<models::ModelSpec> PipelineSplit::parts_of(const models::ModelSpec& model) const {
  std::vector<models::ModelSpec> parts;
  int first = 0;
  for (const PipelineStage& stage : stages) {
    parts.push_back(models::layers_of(model, first, static_cast<int>(stage.layers)));
    first += static_cast<int>(stage.layers);
  }
  return parts;
}

Bytes PipelineSplit::memory() const {
  Bytes sum;
  for (const PipelineStage& stage : stages) sum += memory_of(*stage.device);
  return sum;
}

Watts PipelineSplit::idle_power() const {
  Watts sum;
  for (const PipelineStage& stage : stages) sum += idle_power_of(*stage.device);
  return sum;
}

Watts PipelineSplit::headroom() const {
  std::vector<PartDevice> parts;
  for (const PipelineStage& stage : stages) parts.push_back(stage.device);
  return headroom_of(parts);
}

std::vector<KvPart> PipelineSplit::kv_parts(const models::ModelSpec& model) const {
  std::vector<KvPart> all;
  const auto parts = parts_of(model);
  for (std::size_t i = 0; i < parts.size(); ++i)
    all.push_back(
        {role(i, *stages[i].device), stages[i].device.get(), parts[i], memory_utilization, embedding_of(model, i)});
  return all;
}

std::vector<HostDriven> PipelineSplit::hosts(const models::ModelSpec& model, const models::ParallelPlan&) const {
  std::vector<HostDriven> all;
  const auto parts = parts_of(model);
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (HostDriven& host : stages[i].device->hosts(parts[i], plan_of(*stages[i].device)))
      all.push_back(std::move(host));
  return all;
}

std::vector<std::string> PipelineSplit::problems(const models::ModelSpec& model,
                                                 const models::ParallelPlan& plan) const {
  if (plan.all_devices() > 1 || plan.expert > 1)
    return {fmt::format("{} is a replica of its own: the degrees of parallelism of the engine must be 1", name)};
  if (auto refused = layers_refused(*this, model); !refused.empty()) return refused;
  std::int64_t layers = 0;
  for (const PipelineStage& stage : stages) layers += stage.layers;
  if (layers != model.layers())
    return {fmt::format("the stages of {} have {} layers, {} has {}", name, layers, model.name, model.layers())};
  const auto parts = parts_of(model);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Device& device = *stages[i].device;
    for (std::string& problem : problems_of(role(i, device), device, parts[i])) found.push_back(std::move(problem));
  }
  return found;
}

EnergyBoundary PipelineSplit::boundary() const {
  std::vector<PartDevice> parts;
  for (const PipelineStage& stage : stages) parts.push_back(stage.device);
  return boundary_of(energy_boundary, parts);
}

EnergyTags PipelineSplit::energy_tags() const {
  EnergyTags tags = stages.front().device->energy_tags();
  for (const PipelineStage& stage : stages) tags = weaker(tags, stage.device->energy_tags());
  return tags;
}

std::int64_t PipelineSplit::parts() const {
  std::int64_t devices = 0;
  for (const PipelineStage& stage : stages) devices += stage.device->count;
  return devices;
}

// Formats are the same in all stages.
std::optional<Arithmetic> PipelineSplit::arithmetic() const {
  std::optional<Arithmetic> all = stages.front().device->arithmetic();
  for (const PipelineStage& stage : stages) all = common(all, stage.device->arithmetic());
  return all;
}

bool PipelineSplit::computes_as_wider(const models::Format& inputs) const {
  return std::ranges::any_of(stages,
                             [&](const PipelineStage& stage) { return stage.device->computes_as_wider(inputs); });
}

std::array<Tag, kOperatorFamilies> PipelineSplit::provenance() const {
  std::array<Tag, kOperatorFamilies> weakest{};
  for (const PipelineStage& stage : stages) {
    const auto tags = stage.device->provenance();
    for (std::size_t f = 0; f < tags.size(); ++f) weakest[f] = weaker(weakest[f], tags[f]);
  }
  Tag& crossings = weakest[static_cast<std::size_t>(OperatorFamily::collective)];
  crossings = weaker(crossings, link.tag());
  return weakest;
}

Spreads PipelineSplit::spreads(const models::ModelSpec& model, const models::ParallelPlan& plan,
                               const Settings& settings) const {
  auto widest = stages.front().device->spreads(model, plan, settings);
  for (const PipelineStage& stage : stages) {
    const auto own = stage.device->spreads(model, plan, settings);
    for (std::size_t f = 0; f < own.size(); ++f) widest[f] = wider(widest[f], own[f]);
  }
  Spread& crossings = widest[static_cast<std::size_t>(OperatorFamily::collective)];
  crossings = wider(crossings, spread_of(link.tag()));
  return widest;
}

std::unique_ptr<StepModel> PipelineSplit::bind(const models::ModelSpec& model, const models::ParallelPlan&,
                                               const Settings& settings) const {
  return std::make_unique<PipelineStepModel>(*this, model, settings);
}

const Fields<PipelineSplit>& pipeline_split_fields() {
  static const Fields<PipelineSplit> fields = [] {
    using P = PipelineSplit;
    Fields<P> f("pipeline", "consecutive layers of a model on unlike devices, which a batch passes in turn");
    add_common_fields(f);
    f.add_group("stages", &P::stages, stage_fields(), "from the first layers to the last").required();
    f.add_group("link", &P::link, split_link_fields(), "between a stage and the next").required();
    f.add("memory_utilization", &P::memory_utilization, "share of each device's memory that weights and KV may take")
        .above(0)
        .at_most(1);
    f.check([](const P& device, const YamlNode& node, Diagnostics& diagnostics) {
      if (device.stages.size() < 2) diagnostics.error(node.where, "'stages' must be two or more");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
