// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "sim/run/links.hpp"
#include "sim/run/scenario.hpp"

namespace llmscape::run {

// Faults against the groups and sites that there are.
void check_faults(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

// Breaks replicas as the scenario says; nullptr where it says nothing.
std::unique_ptr<serving::Controller> make_fault_injector(const Scenario& scenario, const RandomStreams& streams);
std::vector<LinkFault> link_faults(const Scenario& scenario);

}  // namespace llmscape::run
