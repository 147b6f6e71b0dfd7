// SPDX-License-Identifier: Apache-2.0
#include "sim/world/unread_overrides.hpp"

#include "hardware/profile/profile_device.hpp"
#include "models/batch.hpp"
#include "sim/scenario/device_memory.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/serving_pools.hpp"
#include "sim/world/price_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::world {
namespace {

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
    all.push_back(device.memory_need(scenario.model_on(*pool, device), pool->plan(), 1, 1).weights.si());
    if (!pool->models.empty()) {
      all.push_back(scenario::load_time(scenario, *pool, device).si());
      all.push_back(device.storage().value_or(Bytes()).si());
    }
    if (pool->lora && !pool->lora->load_bandwidth)
      all.push_back(device.load_bandwidth().value_or(BytesPerSecond()).si());
  }
  return all;
}

}  // namespace

struct OverrideWitness::Figure {
  LaidFigure laid;
  std::size_t group;
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

// Of the replicas of a pool on a group of devices: what is not yet known to be read.
class OverrideWitness::Watch {
 public:
  explicit Watch(const Timeline& timeline) : timeline_(timeline) {}

  void open(Figure& figure, std::unique_ptr<engine::EngineModel> otherwise) {
    open_.push_back({&figure, std::move(otherwise)});
  }
  [[nodiscard]] bool watches() const { return !open_.empty(); }
  [[nodiscard]] std::int64_t compared() const { return compared_; }

  // Whether the next step is looked at.
  [[nodiscard]] bool wants(const models::Batch& batch) {
    constexpr std::int64_t kMost = 20000;  // a run is not to become slower by a figure that nothing reads
    if (open_.empty()) return false;
    if (compared_ >= kMost && batch.decodes <= most_decodes_ && batch.tokens() <= most_tokens_) return false;
    ++compared_;
    most_decodes_ = std::max(most_decodes_, batch.decodes);
    most_tokens_ = std::max(most_tokens_, batch.tokens());
    return true;
  }
  void compare(const models::Batch& batch, const engine::EngineCost& cost) {
    std::erase_if(open_, [&](Open& open) {
      if (open.figure->read) return true;
      const auto found = timeline_.difference(open.otherwise->step(batch), cost);
      open.figure->read = found == Timeline::Difference::counts;
      open.figure->hidden = open.figure->hidden || found == Timeline::Difference::hidden;
      return open.figure->read;
    });
  }

 private:
  struct Open {
    Figure* figure;
    std::unique_ptr<engine::EngineModel> otherwise;
  };

  Timeline timeline_;
  std::vector<Open> open_;
  std::int64_t compared_ = 0, most_decodes_ = 0, most_tokens_ = 0;
};

// Prices each step of a replica as the device does, and lets it be compared.
class OverrideWitness::Watched final : public engine::EngineModel {
 public:
  Watched(std::unique_ptr<engine::EngineModel> model, Watch& watch) : model_(std::move(model)), watch_(watch) {}

  engine::EngineCost step(const models::Batch& batch) override {
    engine::EngineCost cost = model_->step(batch);
    if (watch_.wants(batch)) watch_.compare(batch, cost);
    return cost;
  }
  bool decode_run(const models::Batch& batch, engine::DecodeRun& run) override {
    return model_->decode_run(batch, run);
  }
  bool attend(const engine::DecodeRun& run, const models::Batch& batch, hardware::OwnAttention& own) override {
    if (!model_->attend(run, batch, own)) return false;
    if (watch_.wants(batch)) watch_.compare(batch, run.cost(own));
    return true;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  std::unique_ptr<engine::EngineModel> model_;
  Watch& watch_;
};

OverrideWitness::OverrideWitness(const scenario::Scenario& scenario, PriceMemory* memory) : scenario_(scenario) {
  const YamlNode* hardware = scenario.resolved.find("hardware");
  const YamlNode* devices = hardware ? hardware->find("devices") : nullptr;
  if (!devices) return;
  for (std::size_t group = 0; group < devices->items.size(); ++group) {
    const hardware::Device& device = *scenario.config.hardware.devices[group];
    if (hardware::as_profile(device)) continue;
    std::vector<const scenario::PoolConfig*> pools;
    for (const scenario::PoolConfig& pool : scenario.pools)
      if (std::ranges::find(pool.devices, device.name) != pool.devices.end()) pools.push_back(&pool);
    if (pools.empty()) continue;
    const std::vector<double> base = standing(device, scenario, pools);
    std::vector<LaidFigure> own;
    if (!memory) own = world::laid_over(devices->items[group]);
    for (const LaidFigure& at : memory ? memory->laid_over(devices->items[group]) : own) {
      const bool stands = std::ranges::any_of(
          at.otherwise, [&](const auto& changed) { return standing(*changed, scenario, pools) != base; });
      if (!at.otherwise.empty() && !stands) figures_.push_back({at, group});
    }
  }
}

OverrideWitness::~OverrideWitness() = default;

std::unique_ptr<engine::EngineModel> OverrideWitness::watched(std::unique_ptr<engine::EngineModel> steps,
                                                              const scenario::PoolConfig& pool, std::size_t group) {
  if (figures_.empty()) return steps;
  std::unique_ptr<Watch>& watch = watches_[{&pool, group}];
  if (!watch) watch = make_watch(pool, group);
  if (!watch->watches()) return steps;
  return std::make_unique<Watched>(std::move(steps), *watch);
}

std::unique_ptr<OverrideWitness::Watch> OverrideWitness::make_watch(const scenario::PoolConfig& pool,
                                                                    std::size_t group) {
  auto watch =
      std::make_unique<Watch>(Timeline{pool.batcher->depth() > 1, static_cast<double>(pool.pipeline_parallel)});
  const models::ModelSpec& model = scenario_.model_on(pool, *scenario_.config.hardware.devices[group]);
  for (Figure& figure : figures_) {
    if (figure.group != group || figure.read) continue;
    for (const auto& device : figure.laid.otherwise)
      if (device->problems(model, pool.plan()).empty())
        watch->open(figure, engine::bind(*device, model, pool.plan(), scenario::settings_of(pool)));
      else figure.read = true;  // it decides whether the model runs at all
  }
  return watch;
}

std::int64_t OverrideWitness::compared() const {
  std::int64_t all = 0;
  for (const auto& [replicas, watch] : watches_) all += watch->compared();
  return all;
}

std::vector<std::string> OverrideWitness::warnings() const {
  std::vector<std::string> warnings;
  for (const Figure& figure : figures_) {
    if (figure.read) continue;
    const char* reads = figure.hidden            ? "depends on it: the devices' time hides it"
                        : figure.laid.is_limit() ? "reads it: no step draws that much"
                                                 : "reads it";
    warnings.push_back(fmt::format("hardware.devices[{}].{} is set, but no price of this run {}", figure.group,
                                   figure.laid.path, reads));
  }
  return warnings;
}

}  // namespace llmscape::world
