// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/zone_topology.hpp"

namespace llmscape::kernel {

// A switch for each index of devices in their nodes, with a cable to every node: SimGrid's star zones. What goes to a
// device leaves the sender's node on the receiver's rail (NCCL's PXN), so that no switch between the rails is needed.
struct Rails : ZoneTopology {
  std::int64_t rails = 8;
  std::int64_t nodes = 32;

  [[nodiscard]] std::optional<std::int64_t> places() const override { return nodes; }
  [[nodiscard]] std::int64_t planes() const override { return rails; }
  [[nodiscard]] Zone zone() const override { return StarZone{nodes}; }
};
const Fields<Rails>& rails_fields();

}  // namespace llmscape::kernel
