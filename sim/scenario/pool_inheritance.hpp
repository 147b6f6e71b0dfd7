// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// What a pool of the scenario does not say of its engine is that of `serving`; inside `batcher` and `engine` too, where
// both are of one policy or name.
void inherit_engine(YamlNode& root);

}  // namespace llmscape::scenario
