// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::world {

// What changes the fleet of the scenario: faults, where it has any, then `serving.controllers` as they act in turn.
std::vector<std::unique_ptr<serving::Controller>> make_controllers(const scenario::Scenario& scenario,
                                                                   const RandomStreams& streams);

}  // namespace llmscape::world
