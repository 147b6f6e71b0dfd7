// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/zone_topology.hpp"

namespace llmscape::kernel {

// A parallel ports generalised fat tree, as E. Zahavi names it ("D-Mod-K routing", 2010), with one cable between two
// switches: SimGrid's FatTreeZone. A transfer goes up as far as it has to; which of the switches above it takes is the
// receiver's place modulo their number, so that transfers to one node meet on their way down only.
struct FatTree : ZoneTopology {
  std::vector<std::int64_t> down;  // from below: nodes under a switch, switches under one of the next level, ...
  std::vector<std::int64_t> up;    // from below: switches over a node, over one of these, ...

  [[nodiscard]] std::optional<std::int64_t> places() const override;
  [[nodiscard]] Zone zone() const override { return FatTreeZone{down, up}; }
};
const Fields<FatTree>& fat_tree_fields();

}  // namespace llmscape::kernel
