// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/zone_topology.hpp"

namespace llmscape::kernel {

// Groups of chassis of routers (the Cray XC's): the routers of a chassis are joined each to each, so are those of one
// index in the chassis of a group, and one router of each group to one of each other group. SimGrid's DragonflyZone, by
// shortest ways. Several cables side by side carry a transfer together.
struct Dragonfly : ZoneTopology {
  std::int64_t groups = 2, group_cables = 1;
  std::int64_t chassis = 1, chassis_cables = 1;
  std::int64_t routers = 4, router_cables = 1;
  std::int64_t nodes = 4;

  [[nodiscard]] std::optional<std::int64_t> places() const override { return groups * chassis * routers * nodes; }
  [[nodiscard]] Zone zone() const override {
    return DragonflyZone{groups, group_cables, chassis, chassis_cables, routers, router_cables, nodes};
  }
};
const Fields<Dragonfly>& dragonfly_fields();

}  // namespace llmscape::kernel
