// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// Puts names of device groups in an order that depends neither on the names nor on where the groups stand in the file,
// but on what they are and on what the scenario says of them. Replicas are numbered in this order, and routers tell
// equal replicas apart by number: without it a result would change when a group is renamed. `root` has its presets
// expanded.
void sort_groups(std::vector<std::string>& names, const YamlNode& root);

}  // namespace llmscape::scenario
