// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {

// What a SimGrid zone of many places asks for at each of them: a host, which is kept. Private to this folder.
inline simgrid::s4u::ClusterCallbacks host_at_each_place(const std::string& zone,
                                                         std::vector<simgrid::s4u::Host*>& hosts) {
  return simgrid::s4u::ClusterCallbacks(
      [zone, &hosts](simgrid::s4u::NetZone* inside, const std::vector<unsigned long>&, unsigned long place) {
        hosts.push_back(inside->create_host(zone + " node " + std::to_string(place), 1.0)->seal());
        return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
            hosts.back()->get_netpoint(), nullptr);
      });
}

}  // namespace llmscape::kernel
