// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// The scenario as its structs hold it, with its schema: written by the table that read it, every preset and default
// spelled out, each value with its origin and in the words in which it was given. Reading it gives an equal scenario.
// Paths start from the scenario's folder.
YamlNode written(const Scenario& scenario);

}  // namespace llmscape::scenario
