// SPDX-License-Identifier: Apache-2.0
#include "sim/world/pte.hpp"

#include <algorithm>
#include <set>

namespace llmscape::world {
namespace {

// That of the devices which decode for the model. Of devices that differ there is none: tokens are not told by device.
std::optional<double> intensity_of(const scenario::Scenario& scenario, int model) {
  std::set<std::optional<double>> found;
  for (const scenario::PoolConfig& pool : scenario.pools) {
    if (scenario.model_index(pool) != model || pool.role == serving::Role::prefill) continue;
    for (const auto& device : scenario.config.hardware.devices)
      if (std::ranges::find(pool.devices, device->name) != pool.devices.end())
        found.insert(device->operational_intensity());
  }
  return found.size() == 1 ? *found.begin() : std::nullopt;
}

}  // namespace

PteGamma pte_gamma(const models::ModelSpec& model, double intensity) {
  const auto size = static_cast<double>(models::parameters(model));
  return {2.0 * model.layers() * static_cast<double>(model.hidden) * intensity / size,
          intensity * models::kv_bytes_per_token(model) / (2 * size)};
}

std::optional<result::PteResult> pte_of(const scenario::Scenario& scenario, const metrics::Observer& seen) {
  if (seen.measured.tasks == 0) return std::nullopt;
  result::PteResult result;
  const auto tasks = static_cast<double>(seen.measured.tasks);
  const auto& sums = seen.task_tokens.by_model();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto& [prompts, computed, decoding] = sums[i];
    if (i > 0 && prompts == 0) continue;
    const auto intensity = intensity_of(scenario, static_cast<int>(i));
    if (!intensity) return std::nullopt;
    const PteGamma gamma = pte_gamma(scenario.models[i], *intensity);
    if (i == 0) {
      result.gamma = gamma.paper;
      result.gamma_gqa = gamma.kv;
    }
    result.mean += (prompts + gamma.paper * decoding) / tasks;
    result.mean_computed += (computed + gamma.paper * decoding) / tasks;
  }
  result.mean_tokens = static_cast<double>(seen.task_tokens.different()) / tasks;
  return result;
}

}  // namespace llmscape::world
