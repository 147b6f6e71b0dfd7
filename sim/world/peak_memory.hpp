// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/world/assemble.hpp"

namespace llmscape::world {

// The rank that held most, in the step in which it did. Nothing of replicas that share their devices with others, whose
// steps come between, nor of devices that are composed of several, which hold parts of their own.
std::optional<result::MemoryResult> peak_memory(const Ended& parts);

// Groups of devices whose memory the largest step of a replica exceeds, one sentence each. Devices that say themselves
// what they hold of KV entries keep weights elsewhere too, and are believed.
std::vector<std::string> exceeded_memory(const Ended& parts);

}  // namespace llmscape::world
