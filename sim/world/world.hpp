// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "sim/world/engines.hpp"
#include "sim/world/links.hpp"
#include "sim/world/listeners.hpp"
#include "sim/world/options.hpp"
#include "sim/world/processes.hpp"

namespace llmscape::world {

// What a scenario describes, built: its replicas, tiers and links, its controllers, the gateway before them, the kernel
// that wakes them, and those who observe. Programs come from `generator`. All that is handed in outlives the world.
class World {
 public:
  World(const scenario::Scenario& scenario, const Options& options, workloads::Generator& generator,
        Diagnostics& diagnostics);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Runs to its end, once. Throws std::logic_error when an invariant breaks, and kernel::Deadlock when requests are
  // lost. Mistakes in a trace go to the diagnostics: the result then covers the records before them.
  result::RunResult run();

 private:
  void connect();
  [[nodiscard]] serving::GatewayConfig gateway_config();
  [[nodiscard]] result::Edge used_until(Seconds at);

  const scenario::Scenario& scenario_;
  const Options& options_;
  result::Edges edges_;
  metrics::WindowTracker window_;
  metrics::Observer observer_;
  CallRecorder calls_;
  std::unique_ptr<kernel::Kernel> kernel_;
  OutcomePort outcomes_;
  Engines engines_;
  std::optional<Cables> cables_;
  std::optional<Links> links_;
  std::optional<LinkProfile> link_profile_;
  std::vector<std::unique_ptr<serving::Controller>> controllers_;
  serving::Gateway gateway_;
  GatewayProcess leader_;
  WindowEdges window_edges_;
};

}  // namespace llmscape::world
