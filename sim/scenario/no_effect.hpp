// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// Adds a warning for each choice of serving or model that differs from what would be taken without it and changes
// nothing on any device that it is for. A saved scenario spells all choices out, so that one that says what is taken
// anyway is no choice.
void warn_of_no_effect(Scenario& scenario);

}  // namespace llmscape::scenario
