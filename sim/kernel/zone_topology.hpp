// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/sourced.hpp"
#include "sim/kernel/topology.hpp"

namespace simgrid::s4u {
class Host;
class NetZone;
}  // namespace simgrid::s4u

namespace llmscape::kernel {

// A topology that is a kind of SimGrid's zones: SimGrid lays its cables and says which of them a transfer crosses, on
// either clock. Its cables are alike; each carries its bandwidth both ways at once.
struct ZoneTopology : Topology {
  Sourced<BytesPerSecond> bandwidth;  // of a cable, one way
  Sourced<Seconds> latency;           // of a cable and the switch behind it

  [[nodiscard]] std::unique_ptr<Wiring> build(Fabric& fabric) const final;
  // Makes one plane in `parent`, sealed, under a name that no other zone has. Returns a host for each place. Cables
  // have no latency there (docs/kernel.md).
  [[nodiscard]] virtual std::vector<simgrid::s4u::Host*> make_zone(const simgrid::s4u::NetZone* parent,
                                                                   const std::string& name) const = 0;
};

// Beyond it a zone takes minutes to build.
inline constexpr double kMostPlaces = 100'000;
void too_many_places(double places, const YamlNode& node, Diagnostics& diagnostics);

// The keys of every such topology, after its own.
template <class T>
void add_cable_fields(Fields<T>& fields) {
  fields.add("bandwidth", &T::bandwidth, "of a cable, one way").required().above(0);
  fields.add("latency", &T::latency, "of a cable and the switch behind it, paid for each that is crossed")
      .required()
      .at_least(0);
}

}  // namespace llmscape::kernel
