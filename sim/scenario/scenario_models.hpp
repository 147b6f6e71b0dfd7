// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// The scenario's `model` and its further `models`, as their descriptions and token plans make them. False where one is
// missing for a mistake.
bool read_models(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics);
// The models of its pools that only make drafts.
void read_drafts(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
