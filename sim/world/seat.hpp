// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hardware/fabric.hpp"

namespace llmscape::world {

// A replica among the devices of its group.
struct Seat {
  const hardware::Placement* placement = nullptr;
  std::string group;
  std::int64_t first_device = 0, devices = 1;
  bool sends = false, receives = false;  // KV entries
};
// The node of its group in which its first device is.
inline std::int64_t node_of(const Seat& seat) { return seat.first_device / seat.placement->node.devices; }
inline std::int64_t rack_of(const Seat& seat) {
  return seat.placement->rack ? node_of(seat) / seat.placement->rack->nodes : 0;
}
// What of it is in each of its nodes, in order: seats that do not leave a node.
inline std::vector<Seat> by_node(const Seat& seat) {
  const std::int64_t node = seat.placement->node.devices, end = seat.first_device + seat.devices;
  std::vector<Seat> parts;
  for (std::int64_t device = seat.first_device; device < end;) {
    Seat part = seat;
    part.first_device = device;
    part.devices = std::min(end, (device / node + 1) * node) - device;
    device += part.devices;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace llmscape::world
