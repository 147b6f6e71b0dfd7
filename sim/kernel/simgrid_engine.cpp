// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simgrid_engine.hpp"

#include <csignal>
#include <string>

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

sg::Engine& engine_of_process() {
  if (sg::Engine::is_initialized()) return *sg::Engine::get_instance();
  static std::string name = "llmscape", log = "--log=root.thresh:critical";
  static int argc = 2;
  static char* argv[3] = {name.data(), log.data(), nullptr};
  // SimGrid takes Ctrl-C for itself and would leave with 1: it stays the caller's.
  struct sigaction interrupt = {};
  sigaction(SIGINT, nullptr, &interrupt);
  sg::Engine& engine = *sg::Engine::get_instance(&argc, argv);
  sigaction(SIGINT, &interrupt, nullptr);
  for (const char* option : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", kPrecision})
    sg::Engine::set_config(option);
  make_root(engine);
  return engine;
}

}  // namespace llmscape::kernel
