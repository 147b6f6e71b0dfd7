// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// Reports groups of devices, pools and KV tiers that have the name of another one: pools, prices, faults and
// controllers say by name whom they mean, and results are told apart by it. `root` has its presets expanded; a group
// without a name of its own has its preset's.
void check_unique_names(const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
