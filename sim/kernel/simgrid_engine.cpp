// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simgrid_engine.hpp"

#include <csignal>
#include <string>
#include <utility>

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

namespace {

sg::Engine& make_engine() {
  static std::string name = "llmscape", log = "--log=root.thresh:critical";
  static int argc = 2;
  static char* argv[3] = {name.data(), log.data(), nullptr};
  // SimGrid takes Ctrl-C for itself and would leave with 1: it stays the caller's.
  struct sigaction interrupt = {};
  sigaction(SIGINT, nullptr, &interrupt);
  sg::Engine& engine = *sg::Engine::get_instance(&argc, argv);
  sigaction(SIGINT, &interrupt, nullptr);
  static bool set = false;  // settings outlive an engine, and may not be made again
  if (!std::exchange(set, true))
    for (const char* option : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", kPrecision})
      sg::Engine::set_config(option);
  return engine;
}

}  // namespace

sg::Engine& engine_of_process() {
  if (sg::Engine::is_initialized()) return *sg::Engine::get_instance();
  sg::Engine& engine = make_engine();
  make_root(engine);
  return engine;
}

sg::Engine& engine_of_child() {
  if (sg::Engine::is_initialized()) delete_engine<sg::Engine>();
  return make_engine();
}

}  // namespace llmscape::kernel
