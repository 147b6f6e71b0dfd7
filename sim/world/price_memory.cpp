// SPDX-License-Identifier: Apache-2.0
#include "sim/world/price_memory.hpp"

#include <string_view>
#include <utility>

#include "sim/engine/another.hpp"

namespace llmscape::world {

PriceMemory::Priced PriceMemory::priced(const scenario::Scenario& scenario, std::size_t pool, std::size_t group) {
  const auto part = [&scenario](std::string_view key) {
    const YamlNode* node = scenario.resolved.find(key);
    return node ? *node : YamlNode();
  };
  return {scenario.config.hardware.devices[group],
          part("hardware"),
          part("model"),
          part("models"),
          part("serving"),
          scenario.folder,
          scenario.config.workload.tokens,
          pool,
          group};
}

bool PriceMemory::same_prices(const Priced& a, const Priced& b) {
  return a.device == b.device && a.pool == b.pool && a.group == b.group && a.tokens == b.tokens &&
         a.folder == b.folder && same(a.hardware, b.hardware) && same(a.model, b.model) && same(a.models, b.models) &&
         same(a.serving, b.serving);
}

std::unique_ptr<engine::EngineModel> PriceMemory::find(const scenario::Scenario& scenario, std::size_t pool,
                                                       std::size_t group) {
  const Priced asked = priced(scenario, pool, group);
  const auto* known = known_.find([&asked](const Priced& before) { return same_prices(before, asked); });
  return known ? engine::another(**known) : nullptr;
}

void PriceMemory::keep(const scenario::Scenario& scenario, std::size_t pool, std::size_t group,
                       const engine::EngineModel& steps) {
  if (auto kept = engine::another(steps)) known_.keep(priced(scenario, pool, group), std::move(kept));
}

const std::vector<LaidFigure>& PriceMemory::laid_over(const YamlNode& device) {
  const auto is_it = [&device](const YamlNode& before) { return same(before, device); };
  if (!laid_.find(is_it)) laid_.keep(device, world::laid_over(device));
  return *laid_.find(is_it);
}

}  // namespace llmscape::world
