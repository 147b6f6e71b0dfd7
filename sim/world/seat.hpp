// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

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

}  // namespace llmscape::world
