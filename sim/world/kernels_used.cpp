// SPDX-License-Identifier: Apache-2.0
#include "sim/world/kernels_used.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace llmscape::world {

std::string kernels_used(const scenario::Scenario& scenario) {
  std::vector<std::string> all;
  for (const scenario::PoolConfig& pool : scenario.pools)
    for (const std::string& group : pool.devices) {
      const hardware::Device& device = *scenario.config.hardware.devices[scenario.group_of(group)];
      const std::string& engine = pool.engine.kernel_set();
      if (device.kernels().empty()) continue;
      const bool own = device.kernels() == engine || device.with_kernels_of(engine);
      std::string used = group + ": " + (own ? engine : device.kernels() + " (none of " + engine + ")");
      if (std::ranges::find(all, used) == all.end()) all.push_back(std::move(used));
    }
  std::ranges::sort(all);
  std::string text;
  for (const std::string& used : all) text += (text.empty() ? "" : ", ") + used;
  return text;
}

}  // namespace llmscape::world
