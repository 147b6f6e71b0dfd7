// SPDX-License-Identifier: Apache-2.0
#include "hardware/table/table_device.hpp"

#include "hardware/table/table_step_model.hpp"
#include "models/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace llmscape::hardware {
namespace {

namespace fs = std::filesystem;

constexpr double kMeasuredBytes = 2;  // of a weight and of a KV entry: the profiler runs bf16

std::vector<std::string> unmeasured(const models::ModelSpec& model, const models::ParallelPlan& plan) {
  std::vector<std::string> problems;
  if (plan.all_devices() != plan.tensor || plan.expert > 1)
    problems.emplace_back("layer tables are of tensor parallelism alone");
  const models::Precision& stored = model.precision;
  const bool wide_attention = std::ranges::all_of(model.groups, [&](const models::LayerGroup& group) {
    return group.attention_weights(stored).bytes == kMeasuredBytes &&
           group.output_weights(stored).bytes == kMeasuredBytes;
  });
  if (stored.weights.bytes != kMeasuredBytes || !wide_attention || stored.kv.keys.bytes != kMeasuredBytes ||
      stored.kv.values.bytes != kMeasuredBytes)
    problems.emplace_back("layer tables are of 16-bit weights and KV");
  const auto* attention = std::get_if<models::SoftmaxAttention>(&model.groups.front().mixer);
  if (model.groups.size() > 1 || !attention || attention->window > 0)
    problems.emplace_back("layer tables are of models whose layers are alike and attend to everything");
  return problems;
}

std::optional<traces::LayerTables> tables_of(const fs::path& folder, std::vector<std::string>& problems) {
  Diagnostics diagnostics;
  auto tables = traces::read_layer_tables(folder, diagnostics);
  for (const Diagnostic& mistake : diagnostics.sorted())
    problems.push_back(fmt::format("{}: {}", place_of(mistake.where), mistake.message));
  return tables;
}

}  // namespace

fs::path tables_folder(const YamlNode& tables) {
  const auto& source = tables.where.source;
  const bool in_file = source && fs::is_regular_file(source->name);
  return in_file ? fs::path(source->name).parent_path() / tables.text : fs::path(tables.text);
}

fs::path TableDevice::folder_of(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  return folder / model.name / fmt::format("tp{}", plan.tensor);
}

std::vector<std::string> TableDevice::problems(const models::ModelSpec& model, const models::ParallelPlan& plan) const {
  std::vector<std::string> problems = layers_refused(*this, model);
  if (problems.empty()) problems = unmeasured(model, plan);
  if (!problems.empty()) return problems;
  const fs::path here = folder_of(model, plan);
  if (!fs::is_directory(here))
    return {fmt::format("{} was not measured: there is no folder '{}'", model.name, here.string())};
  if (const auto measured = tables_of(here, problems)) problems = TableStepModel::missing(*measured, model);
  for (std::string& problem : weights_too_large(*this, model, plan)) problems.push_back(std::move(problem));
  return problems;
}

std::array<Tag, kOperatorFamilies> TableDevice::provenance() const {
  std::array<Tag, kOperatorFamilies> tags;
  tags.fill(Tag::measured);
  tags[static_cast<std::size_t>(OperatorFamily::collective)] = hardware::provenance(links);
  tags[static_cast<std::size_t>(OperatorFamily::host)] = host.tag;
  return tags;
}

std::unique_ptr<StepModel> TableDevice::bind(const models::ModelSpec& model, const models::ParallelPlan& plan,
                                             const Settings& settings) const {
  std::vector<std::string> problems = unmeasured(model, plan);
  const auto measured = tables_of(folder_of(model, plan), problems);
  if (measured && problems.empty()) problems = TableStepModel::missing(*measured, model);
  if (!problems.empty()) throw std::invalid_argument(problems.front());
  return std::make_unique<TableStepModel>(*this, *measured, model, plan, settings);
}

const Fields<TableDevice>& table_fields() {
  static const Fields<TableDevice> fields = [] {
    Fields<TableDevice> f("table", "a device known by measured times of layers");
    add_common_fields(f);
    f.add("tables", &TableDevice::tables,
          "folder of measured layers: MODEL/tpN/*.csv, as the profiler of LLMServingSim writes them")
        .required();
    f.add("capacity", &TableDevice::capacity, "device memory as the driver reports it").required().above(0);
    f.add("runtime_reserve", &TableDevice::runtime_reserve, "memory of contexts, communicators and captured graphs")
        .required()
        .at_least(0);
    f.add("idle_power", &TableDevice::idle, "power when idle").required().at_least(0);
    f.add("busy_power", &TableDevice::busy, "power while a step runs").required().above(0);
    f.add("peak_bf16", &TableDevice::peak_bf16, "dense peak, to say how busy the arithmetic is; absent: not said")
        .above(0);
    f.add("memory_bandwidth", &TableDevice::memory_bandwidth, "to say how busy the memory is; absent: not said")
        .above(0);
    f.add_group("links", &TableDevice::links, links_fields(), "how the devices of a replica are joined").required();
    f.add_group("host", &TableDevice::host, host_fields(), "the host's time of a step").required();
    f.check([](const TableDevice& device, const YamlNode& node, Diagnostics& diagnostics) {
      if (*device.idle >= *device.busy) diagnostics.error(node.where, "idle_power is not below busy_power");
    });
    return f;
  }();
  return fields;
}

FamilyMember<Device> table_kind() {
  FamilyMember<Device> kind =
      member<TableDevice, Device>("table", "measured times of the layers of some models, looked up", table_fields());
  kind.read = [](const YamlNode& node, Diagnostics& diagnostics) -> std::shared_ptr<const Device> {
    auto device = std::make_shared<TableDevice>();
    const int errors = diagnostics.errors();
    table_fields().read(*device, node, diagnostics);
    if (const YamlNode* tables = node.find("tables"); tables && tables->is_scalar()) {
      device->folder = tables_folder(*tables);
      if (!fs::is_directory(device->folder))
        diagnostics.error(tables->where, fmt::format("there is no folder '{}'", device->folder.string()));
    }
    return diagnostics.errors() == errors ? device : nullptr;
  };
  return kind;
}

}  // namespace llmscape::hardware
