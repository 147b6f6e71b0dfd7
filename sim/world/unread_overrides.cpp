// SPDX-License-Identifier: Apache-2.0
#include "sim/world/unread_overrides.hpp"

#include "hardware/profile/profile_device.hpp"
#include "hardware/scaled_fits.hpp"
#include "models/batch.hpp"
#include "sim/scenario/device_memory.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/serving_pools.hpp"
#include "sim/world/price_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace llmscape::world {
namespace {

// Limits: they count where a step reaches them, so that it is asked what would be without.
bool is_limit(std::string_view path) { return path == "tdp" || path == "power_limit"; }

template <class Node>
Node& node_at(Node& device, const LaidFigure& at) {
  Node* node = &device;
  for (const std::size_t step : at.steps) node = node->is_mapping() ? &node->entries[step].value : &node->items[step];
  return *node;
}

// Sizes may count only by what fits: "520 MB".
bool is_size(std::string_view value) { return value.ends_with('B') && value.find('/') == value.npos; }

// The device with that figure changed, and what was fitted on it.
YamlNode with_changed(const YamlNode& written, const LaidFigure& at, double factor) {
  YamlNode device = written;
  YamlNode* node = &node_at(device, at);
  double number = 0;
  const char* last = node->text.data() + node->text.size();
  const auto [end, error] = std::from_chars(node->text.data(), last, number);
  if (error == std::errc()) node->text = fmt::format("{}{}", number * factor, std::string(end, last));
  hardware::scale_fits(device, written);
  return device;
}

// The devices that it is asked for instead of the one laid out: with twice the figure and with half of it, a size with
// a thousand times as much or as little as well; a limit raised, or taken away where it cannot be raised. Without those
// that are refused.
std::vector<std::shared_ptr<const hardware::Device>> without(const YamlNode& written, const LaidFigure& at) {
  std::vector<std::shared_ptr<const hardware::Device>> devices;
  const auto add = [&devices](const YamlNode& node) {
    Diagnostics refused;
    auto device = hardware::devices().read(node, refused);
    if (device && !refused.has_errors()) devices.push_back(std::move(device));
  };
  if (at.path == "power_limit") {
    YamlNode free = written;
    free.entries.erase_if([](const YamlNode::Entry& entry) { return entry.key == "power_limit"; });
    add(free);
    return devices;
  }
  add(with_changed(written, at, 2));
  if (is_limit(at.path)) return devices;
  add(with_changed(written, at, 0.5));
  if (is_size(node_at(written, at).text))
    for (const double factor : {1024., 1 / 1024.}) add(with_changed(written, at, factor));
  return devices;
}

// What a run takes from a device beside its steps, as numbers to compare.
std::vector<double> standing(const hardware::Device& device, const scenario::Scenario& scenario,
                             const std::vector<const scenario::PoolConfig*>& pools) {
  std::vector<double> all = {device.memory().si(), device.runtime_memory().si(), device.idle_power().si(),
                             static_cast<double>(device.count)};
  const auto& groups = scenario.config.hardware.devices;
  if (std::ranges::all_of(groups, [](const auto& group) { return group->die_area.has_value(); }))
    all.push_back(device.die_area ? device.die_area->value.si() : 0);
  for (const scenario::PoolConfig* pool : pools) {
    all.push_back(
        static_cast<double>(engine::stated_kv_tokens(device, scenario.model_on(*pool, device), pool->plan())));
    all.push_back(scenario::cold_start(scenario, *pool, device).value_or(Seconds()).si());
    if (!pool->models.empty()) all.push_back(scenario::load_time(scenario, *pool, device).si());
    if (pool->lora && !pool->lora->load_bandwidth)
      all.push_back(device.load_bandwidth().value_or(BytesPerSecond()).si());
  }
  return all;
}

}  // namespace

struct OverrideWitness::Figure {
  std::string path;
  std::size_t group;
  std::vector<std::shared_ptr<const hardware::Device>> otherwise;
  bool read = false, hidden = false;
};

// How a replica lays its host beside its devices.
struct OverrideWitness::Timeline {
  enum class Difference { none, hidden, counts };
  bool hides_host;
  double stages;

  // As long as a replica takes for a step (serving::Replica::duration).
  [[nodiscard]] Seconds length(const engine::EngineCost& cost) const {
    return hides_host ? std::max(cost.stage() * stages, cost.host + cost.launch * stages)
                      : cost.stage() * stages + cost.host;
  }

  // What of two prices of a step reaches a result. The host's work does not where the devices take longer.
  [[nodiscard]] Difference difference(const engine::EngineCost& a, const engine::EngineCost& b) const {
    constexpr auto kHost = static_cast<std::ptrdiff_t>(hardware::OperatorFamily::host);
    const bool counts = a.device != b.device || a.stage() != b.stage() || a.sync != b.sync || length(a) != length(b) ||
                        a.extrapolated != b.extrapolated || a.bytes != b.bytes || a.energy != b.energy ||
                        a.busy != b.busy ||
                        !std::equal(a.by_family.begin(), a.by_family.begin() + kHost, b.by_family.begin());
    if (counts) return Difference::counts;
    return a.host == b.host && a.launch == b.launch ? Difference::none : Difference::hidden;
  }
};

// Prices each step as the device does, and with what is not yet known to be read.
class OverrideWitness::Watched final : public engine::EngineModel {
 public:
  Watched(std::unique_ptr<engine::EngineModel> model, const Timeline& timeline)
      : model_(std::move(model)), timeline_(timeline) {}

  void watch(Figure& figure, std::unique_ptr<engine::EngineModel> otherwise) {
    open_.push_back({&figure, std::move(otherwise)});
  }

  engine::EngineCost step(const models::Batch& batch) override {
    engine::EngineCost cost = model_->step(batch);
    if (!open_.empty()) compare(batch, cost);
    return cost;
  }
  bool decode_run(const models::Batch& batch, engine::DecodeRun& run) override {
    return model_->decode_run(batch, run);
  }
  bool attend(const engine::DecodeRun& run, const models::Batch& batch, hardware::OwnAttention& own) override {
    if (!model_->attend(run, batch, own)) return false;
    if (!open_.empty()) compare(batch, run.cost(own));
    return true;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  struct Open {
    Figure* figure;
    std::unique_ptr<engine::EngineModel> otherwise;
  };

  void compare(const models::Batch& batch, const engine::EngineCost& cost) {
    constexpr int kMost = 20000;  // steps of a replica: a run is not to become slower by a figure that nothing reads
    std::erase_if(open_, [&](Open& open) {
      if (open.figure->read) return true;
      const auto found = timeline_.difference(open.otherwise->step(batch), cost);
      open.figure->read = found == Timeline::Difference::counts;
      open.figure->hidden = open.figure->hidden || found == Timeline::Difference::hidden;
      return open.figure->read;
    });
    if (++steps_ == kMost) open_.clear();
  }

  std::unique_ptr<engine::EngineModel> model_;
  Timeline timeline_;
  std::vector<Open> open_;
  int steps_ = 0;
};

OverrideWitness::OverrideWitness(const scenario::Scenario& scenario, PriceMemory* memory) : scenario_(scenario) {
  const YamlNode* hardware = scenario.resolved.find("hardware");
  const YamlNode* devices = hardware ? hardware->find("devices") : nullptr;
  if (!devices) return;
  for (std::size_t group = 0; group < devices->items.size(); ++group) {
    const hardware::Device& device = *scenario.config.hardware.devices[group];
    const std::vector<LaidFigure> laid =
        memory ? memory->laid_over(devices->items[group]) : world::laid_over(devices->items[group]);
    if (laid.empty() || hardware::as_profile(device)) continue;
    std::vector<const scenario::PoolConfig*> pools;
    for (const scenario::PoolConfig& pool : scenario.pools)
      if (std::ranges::find(pool.devices, device.name) != pool.devices.end()) pools.push_back(&pool);
    if (pools.empty()) continue;
    const std::vector<double> base = standing(device, scenario, pools);
    for (const LaidFigure& at : laid) {
      if (at.path == "count") continue;  // every run takes it (standing), and nearly every scenario sets it
      auto otherwise = without(devices->items[group], at);
      const bool stands = std::ranges::any_of(
          otherwise, [&](const auto& changed) { return standing(*changed, scenario, pools) != base; });
      if (!otherwise.empty() && !stands) figures_.push_back({at.path, group, std::move(otherwise)});
    }
  }
}

OverrideWitness::~OverrideWitness() = default;

std::unique_ptr<engine::EngineModel> OverrideWitness::watched(std::unique_ptr<engine::EngineModel> steps,
                                                              const scenario::PoolConfig& pool, std::size_t group) {
  std::unique_ptr<Watched> watching;
  for (Figure& figure : figures_) {
    if (figure.group != group || figure.read) continue;
    if (!watching)
      watching = std::make_unique<Watched>(
          std::move(steps), Timeline{pool.batcher->depth() > 1, static_cast<double>(pool.pipeline_parallel)});
    const models::ModelSpec& model = scenario_.model_on(pool, *scenario_.config.hardware.devices[group]);
    for (const auto& device : figure.otherwise)
      if (device->problems(model, pool.plan()).empty())
        watching->watch(figure, engine::bind(*device, model, pool.plan(), scenario::settings_of(pool)));
      else figure.read = true;  // it decides whether the model runs at all
  }
  if (!watching) return steps;
  return watching;
}

std::vector<std::string> OverrideWitness::warnings() const {
  std::vector<std::string> warnings;
  for (const Figure& figure : figures_) {
    if (figure.read) continue;
    const char* reads = figure.hidden           ? "depends on it: the devices' time hides it"
                        : is_limit(figure.path) ? "reads it: no step draws that much"
                                                : "reads it";
    warnings.push_back(
        fmt::format("hardware.devices[{}].{} is set, but no price of this run {}", figure.group, figure.path, reads));
  }
  return warnings;
}

}  // namespace llmscape::world
