// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {

// The one engine of this process, with the settings of docs/kernel.md, made when it is first asked for. Where the clock
// is the event queue it never runs: it lays the cables of topologies. Private to this folder.
simgrid::s4u::Engine& engine_of_process();

}  // namespace llmscape::kernel
