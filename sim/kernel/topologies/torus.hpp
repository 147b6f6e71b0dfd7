// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/zone_topology.hpp"

namespace llmscape::kernel {

// A ring of nodes along each dimension: SimGrid's TorusZone. A transfer goes along the first dimension the shorter way
// round, then along the next: through nodes, which pass on what is not theirs.
struct Torus : ZoneTopology {
  std::vector<std::int64_t> dimensions;

  [[nodiscard]] std::optional<std::int64_t> places() const override;
  [[nodiscard]] Zone zone() const override { return TorusZone{dimensions}; }
};
const Fields<Torus>& torus_fields();

}  // namespace llmscape::kernel
