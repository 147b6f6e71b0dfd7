// SPDX-License-Identifier: Apache-2.0
#include "sim/run/unread_overrides.hpp"

#include "hardware/profile/profile_device.hpp"
#include "hardware/scaled_fits.hpp"
#include "models/batch.hpp"
#include "models/step_work.hpp"
#include "sim/run/serving_pools.hpp"
#include "sim/run/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string_view>

namespace llmscape::run {
namespace {

// Not prices, or read only at a limit that the probes may not reach.
constexpr std::array kNotJudged = {std::string_view("count"),       std::string_view("tdp"),
                                   std::string_view("power_limit"), std::string_view("clock"),
                                   std::string_view("die_area"),    std::string_view("idle_power")};

constexpr std::array kWords = {std::string_view("name"),     std::string_view("description"),
                               std::string_view("tag"),      std::string_view("source"),
                               std::string_view("accuracy"), std::string_view("residuals")};

struct Laid {
  std::string path;                // below the device: "links.bandwidth"
  std::vector<std::size_t> steps;  // entry or item of each level
};

bool from_preset(const YamlNode& node) { return node.origin.starts_with("preset"); }

// Numbers that stand in the file or on the command line, where the rest of the device comes from elsewhere.
class LaidFinder {
 public:
  explicit LaidFinder(bool in_file) : in_file_(in_file) {}
  std::vector<Laid> all;

  void visit(const YamlNode& node, const Laid& at) {
    if (node.is_scalar()) {
      double number = 0;
      const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
      const bool laid = node.origin == "--set" || (in_file_ && node.origin.empty());
      if (laid && !node.quoted && error == std::errc() && number != 0) all.push_back(at);
      return;
    }
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      const auto& entry = node.entries[i];
      if (std::ranges::find(kWords, entry.key) != kWords.end()) continue;
      if (at.path.empty() && std::ranges::find(kNotJudged, entry.key) != kNotJudged.end()) continue;
      Laid inner{entry.key == "value" ? at.path : at.path + (at.path.empty() ? "" : ".") + entry.key, at.steps};
      inner.steps.push_back(i);
      visit(entry.value, inner);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Laid inner{fmt::format("{}[{}]", at.path, i), at.steps};
      inner.steps.push_back(i);
      visit(node.items[i], inner);
    }
  }

 private:
  bool in_file_;
};

std::vector<Laid> laid_over(const YamlNode& device) {
  const bool preset = std::ranges::any_of(device.entries, [](const auto& entry) {
    const YamlNode* value = entry.value.find("value");
    return from_preset(entry.value) || (value && from_preset(*value));
  });
  LaidFinder finder(preset);
  finder.visit(device, {});
  return std::move(finder.all);
}

// The device with that figure changed, and what was fitted on it.
YamlNode with_changed(const YamlNode& written, const Laid& at, double factor) {
  YamlNode device = written;
  YamlNode* node = &device;
  for (const std::size_t step : at.steps) node = node->is_mapping() ? &node->entries[step].value : &node->items[step];
  double number = 0;
  const char* last = node->text.data() + node->text.size();
  const auto [end, error] = std::from_chars(node->text.data(), last, number);
  if (error == std::errc()) node->text = fmt::format("{}{}", number * factor, std::string(end, last));
  hardware::scale_fits(device, written);
  return device;
}

// All that a run asks a device for, as numbers to compare.
std::vector<double> prices(const hardware::Device& device, const Scenario& scenario,
                           const std::vector<const PoolConfig*>& pools) {
  std::vector<double> all = {device.memory().si(), device.runtime_memory().si(), device.idle_power().si(),
                             device.load_bandwidth().value_or(BytesPerSecond()).si()};
  const auto note = [&all](const hardware::StepCost& cost) {
    all.insert(all.end(), {cost.device.si(), cost.host.si(), cost.sync.si(), cost.extrapolated.si(), cost.bytes.si()});
    for (const Joules joules : cost.energy) all.push_back(joules.si());
    for (const Seconds busy : cost.busy) all.push_back(busy.si());
  };
  for (const PoolConfig* pool : pools) {
    const models::ModelSpec& model = scenario.model_of(*pool);
    all.push_back(static_cast<double>(device.kv_tokens(model, pool->plan())));
    const auto steps = device.bind(model, pool->plan(), settings_of(*pool));
    const auto laws = models::kv_laws(model);
    const std::array prompts = {models::PrefillChunk{4096, 0, true}, models::PrefillChunk{512, 1536, true}};
    struct Probe {
      std::int64_t decodes, context;
      bool prompt;
    };
    for (const Probe probe : {Probe{0, 0, true}, Probe{1, 512, false}, Probe{64, 4096, false}, Probe{8, 1024, true}}) {
      models::Batch batch;
      std::vector<models::Attended> attended;
      for (const auto window : laws) {
        const std::int64_t seen = window > 0 ? std::min<std::int64_t>(window, probe.context) : probe.context;
        attended.push_back({probe.decodes * seen, seen});
      }
      batch.decodes = probe.decodes;
      batch.attended = attended;
      if (probe.prompt) batch.chunks = prompts;
      note(steps->step(batch));
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> unread_overrides(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const YamlNode* hardware = scenario.resolved.find("hardware");
  const YamlNode* devices = hardware ? hardware->find("devices") : nullptr;
  if (!devices) return warnings;
  for (std::size_t group = 0; group < devices->items.size(); ++group) {
    const hardware::Device& device = *scenario.config.hardware.devices[group];
    const std::vector<Laid> figures = laid_over(devices->items[group]);
    if (figures.empty() || hardware::as_profile(device)) continue;
    std::vector<const PoolConfig*> pools;
    for (const PoolConfig& pool : scenario.pools)
      if (std::ranges::find(pool.devices, device.name) != pool.devices.end()) pools.push_back(&pool);
    if (pools.empty()) continue;
    const std::vector<double> base = prices(device, scenario, pools);
    for (const Laid& figure : figures) {
      bool judged = false, read = false;
      for (const double factor : {2.0, 0.5}) {
        Diagnostics refused;
        const auto changed = hardware::devices().read(with_changed(devices->items[group], figure, factor), refused);
        if (!changed || refused.has_errors()) continue;
        judged = true;
        read = read || prices(*changed, scenario, pools) != base;
      }
      if (judged && !read)
        warnings.push_back(
            fmt::format("hardware.devices[{}].{} is set, but no price of this run reads it", group, figure.path));
    }
  }
  return warnings;
}

}  // namespace llmscape::run
