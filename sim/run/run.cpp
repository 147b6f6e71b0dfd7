// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run.hpp"

#include "sim/world/price_memory.hpp"
#include "sim/world/world.hpp"

namespace llmscape::run {

result::RunResult run_scenario(const scenario::Scenario& scenario, const world::Options& options,
                               Diagnostics& diagnostics) {
  const RandomStreams streams(static_cast<std::uint64_t>(scenario.config.seed));
  const auto generator = workloads::make_generator(scenario.config.workload, scenario.workload_context(),
                                                   streams.child("workload"), diagnostics);
  if (!generator) return {};
  return world::World(scenario, options, *generator, diagnostics).run();
}

world::Options one_of_many() {
  static world::PriceMemory prices;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.prices = &prices;
  return options;
}

}  // namespace llmscape::run
