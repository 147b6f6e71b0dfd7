// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"

namespace llmscape::scenario {

// Something breaks at a known time: a device, a node or a replica of a group; or, with `uplink`, the link of a node or
// of a site.
struct FaultConfig {
  Seconds at;
  std::optional<Seconds> lasts;  // absent: for good
  std::optional<std::string> group;
  std::optional<std::int64_t> device, node, replica;  // of the group, counted from 0
  std::optional<std::string> site;
  std::optional<BytesPerSecond> uplink;  // what the link still carries; 0: it is down
};

// How often a device of a group breaks, and how long it then is down: means of exponential times.
struct MtbfConfig {
  Seconds mtbf, mttr;
};

struct FaultsConfig {
  std::vector<FaultConfig> schedule;
  std::map<std::string, MtbfConfig> mtbf;  // by group of devices
};
const Fields<FaultsConfig>& faults_fields();

}  // namespace llmscape::scenario
