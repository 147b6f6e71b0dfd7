// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/run/scenario.hpp"

#include <string>
#include <vector>

namespace llmscape::run {

// Figures of devices that the user laid over a description and that nothing in this run depends on, a sentence each
// that begins with the figure's path: the bandwidth of links under one rank, the peak of a format that no operator has.
// Each is probed once, before the run: the device is read again with the figure doubled, then halved, and a step of
// prompts, one of decodes and a mixed one are priced for every model and plan that run on it. Figures that are read but
// matter only at a limit are not judged: tdp, power_limit and clock.
std::vector<std::string> unread_overrides(const Scenario& scenario);

}  // namespace llmscape::run
