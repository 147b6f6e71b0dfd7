// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/ranks.hpp"

#include <algorithm>

#include "sim/scenario/where.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/vllm_data_parallel.hpp"

namespace llmscape::scenario {
namespace {

bool is_mixture(const models::ModelSpec& model) {
  return std::ranges::any_of(model.groups, [](const auto& group) { return group.feed_forward.routed(); });
}

bool breaks(const Scenario& scenario, const PoolConfig& pool) {
  const auto in_pool = [&](const std::string& group) {
    return std::ranges::find(pool.devices, group) != pool.devices.end();
  };
  const FaultsConfig& faults = scenario.config.faults;
  return std::ranges::any_of(
             faults.schedule,
             [&](const FaultConfig& fault) { return !fault.uplink && fault.group && in_pool(*fault.group); }) ||
         std::ranges::any_of(faults.mtbf, [&](const auto& entry) { return in_pool(entry.first); });
}

}  // namespace

void resolve_ranks(const Scenario& scenario, std::vector<PoolConfig>& pools) {
  for (PoolConfig& pool : pools) {
    pool.lock_step = pool.data_parallel > 1 && is_mixture(scenario.model_of(pool));
    if (!pool.router) {
      if (pool.data_parallel > 1) pool.router = std::make_shared<serving::VllmDataParallel>();
      else pool.router = std::make_shared<serving::LeastTokens>();
    }
    if (pool.data_parallel > 1)
      if (auto own = pool.batcher->of_rank(pool.data_parallel)) pool.batcher = std::move(own);
  }
}

void check_ranks(const Scenario& scenario, const PoolConfig& pool, const YamlNode& root, Diagnostics& diagnostics) {
  if (!pool.lock_step) return;
  const auto refuse = [&](const std::string& what) {
    diagnostics.error(where_of(root, {"serving", "data_parallel"}),
                      "data-parallel ranks of a mixture step together, and " + what);
  };
  if (pool.stages_shared()) refuse("their batches do not follow one another through a pipeline");
  if (!pool.models.empty()) refuse("several models cannot take turns on their devices");
  if (!scenario.config.serving.controllers.empty())
    refuse("controllers that start or stop one of them are not modelled");
  if (breaks(scenario, pool)) refuse("faults of one of them are not modelled");
}

}  // namespace llmscape::scenario
