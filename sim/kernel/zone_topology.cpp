// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/zone_topology.hpp"

#include <fmt/format.h>

#include "base/module.hpp"

namespace llmscape::kernel {

std::unique_ptr<Wiring> ZoneTopology::build(Fabric& fabric) const {
  using Wire = Wiring*(const ZoneTopology&, Fabric&);
  return std::unique_ptr<Wiring>(module_function<Wire>("simgrid", "llmscape_simgrid_wiring")(*this, fabric));
}

void too_many_places(double places, const YamlNode& node, Diagnostics& diagnostics) {
  diagnostics.error(node.where, fmt::format("a topology of {:.0f} places: at most {:.0f}", places, kMostPlaces));
}

}  // namespace llmscape::kernel
