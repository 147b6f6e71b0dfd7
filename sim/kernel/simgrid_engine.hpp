// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {

// The one engine of this process, with the settings of docs/kernel.md, made when it is first asked for. Where the clock
// is the event queue it never runs: it lays the cables of topologies. Private to this folder.
simgrid::s4u::Engine& engine_of_process();
// One without a root zone, for a platform file that brings its own, in a child that does nothing else: what its parent
// had of an engine is gone there. It is never run: its clock would not be new.
simgrid::s4u::Engine& engine_of_child();

}  // namespace llmscape::kernel
