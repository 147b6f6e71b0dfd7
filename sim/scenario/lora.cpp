// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/lora.hpp"

#include <fmt/format.h>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {
namespace {

std::optional<BytesPerSecond> load_bandwidth(const LoraConfig& lora, const hardware::Device& device) {
  return lora.load_bandwidth ? lora.load_bandwidth : device.load_bandwidth();
}

// Of one adapter, on the fullest rank.
Bytes bytes_of_one(const Scenario& scenario, const PoolConfig& pool) {
  return models::adapter_bytes(*pool.lora, scenario.model_of(pool), pool.plan());
}

}  // namespace

const Fields<LoraConfig>& lora_fields() {
  static const Fields<LoraConfig> fields = [] {
    Fields<LoraConfig> f("lora", "low-rank adapters that calls carry, all of one shape");
    models::add_adapter_fields(f);
    f.add("adapters", &LoraConfig::adapters, "how many there are").required().between(1, 1e6);
    f.add("popularity", &LoraConfig::popularity,
          "exponent s: the adapter of rank r is carried with a probability proportional to 1 / r^s; 0: all alike")
        .required()
        .between(0, 10);
    f.add("resident", &LoraConfig::resident,
          "most that the devices hold at once; others are loaded when a call with them is admitted; all if absent")
        .at_least(1);
    f.add("load_bandwidth", &LoraConfig::load_bandwidth,
          "into the memory of each device, from where adapters are kept; the device's own if absent")
        .above(0);
    return f;
  }();
  return fields;
}

std::vector<std::string> lora_problems(const Scenario& scenario, const PoolConfig& pool,
                                       const hardware::Device& device) {
  if (!pool.lora) return {};
  std::vector<std::string> problems = models::problems(*pool.lora, scenario.model_of(pool));
  if (!device.takes_adapters()) problems.push_back("'" + device.name + "' cannot carry low-rank adapters");
  if (!load_bandwidth(*pool.lora, device))
    problems.push_back("nothing says how fast adapters are loaded into '" + device.name +
                       "': lora.load_bandwidth is needed");
  return problems;
}

void warn_of_adapters_of_streams(Scenario& scenario) {
  for (const PoolConfig& pool : scenario.pools)
    if (pool.lora && pool.pipeline_batches > 1)
      scenario.warnings.push_back(fmt::format(
          "lora of '{}': each of its {} streams of batches holds {} adapters of its own, where the memory has room for "
          "one set: as many times the loads",
          name_of(pool), pool.pipeline_batches, pool.lora->held()));
}

Bytes resident_adapters(const Scenario& scenario, const PoolConfig& pool) {
  return pool.lora ? static_cast<double>(pool.lora->held()) * bytes_of_one(scenario, pool) : Bytes();
}

serving::AdapterConfig adapters_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                   const RandomStreams& streams) {
  if (!pool.lora) return {};
  return {std::make_shared<serving::AdapterLaw>(pool.lora->adapters, pool.lora->popularity, streams.child("adapters")),
          pool.lora->held(), bytes_of_one(scenario, pool) / *load_bandwidth(*pool.lora, device)};
}

}  // namespace llmscape::scenario
