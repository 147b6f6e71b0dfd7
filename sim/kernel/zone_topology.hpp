// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "base/sourced.hpp"
#include "sim/kernel/topology.hpp"

namespace llmscape::kernel {

// What the kinds of SimGrid's zones are told of their shape; sim/kernel/zones.cpp makes them.
struct FatTreeZone {
  std::vector<std::int64_t> down, up;
};
struct TorusZone {
  std::vector<std::int64_t> dimensions;
};
struct DragonflyZone {  // cables: side by side between two of them
  std::int64_t groups, group_cables, chassis, chassis_cables, routers, router_cables, nodes;
};
struct StarZone {
  std::int64_t nodes;
};
using Zone = std::variant<FatTreeZone, TorusZone, DragonflyZone, StarZone>;

// A topology that is a kind of SimGrid's zones: SimGrid lays its cables and says which of them a transfer crosses, on
// either clock. Its cables are alike; each carries its bandwidth both ways at once.
struct ZoneTopology : Topology {
  Sourced<BytesPerSecond> bandwidth;  // of a cable, one way
  Sourced<Seconds> latency;           // of a cable and the switch behind it

  [[nodiscard]] std::unique_ptr<Wiring> build(Fabric& fabric) const final;
  [[nodiscard]] virtual Zone zone() const = 0;  // of one plane
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
