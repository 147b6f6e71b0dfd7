// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "hardware/fabric.hpp"
#include "sim/kernel/fabric.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::world {

// A replica among the devices of its group.
struct Seat {
  const hardware::Placement* placement = nullptr;
  std::string group;
  std::int64_t first_device = 0, devices = 1;
  bool sends = false, receives = false;  // KV entries
};

// A link carries no more than this for a while; 0: it is down, and what it carries is lost.
struct LinkFault {
  Seconds from, until;
  std::string link;  // link_of_site() or link_of_node()
  BytesPerSecond bandwidth;
};
std::string link_of_site(const std::string& site);
std::string link_of_node(const std::string& group, std::int64_t node);

std::vector<LinkFault> link_faults(const scenario::Scenario& scenario);

// A link that changes.
struct LinkChange {
  Seconds at;
  kernel::Fabric::Link link;
  BytesPerSecond bandwidth;
};

// Builds the links that these replicas see, and routes from each that sends to each that receives: out of its ports,
// over its node's uplink and its site's where they are in others, and in again. Replica i is endpoint i. Returns how
// the links change, in order of time.
std::vector<LinkChange> connect(kernel::Fabric& fabric, const std::vector<Seat>& seats,
                                const hardware::FabricConfig& config, const std::vector<LinkFault>& faults);

}  // namespace llmscape::world
