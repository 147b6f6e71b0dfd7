// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/dragonfly.hpp"
#include "sim/kernel/topologies/fat_tree.hpp"
#include "sim/kernel/topologies/platform.hpp"
#include "sim/kernel/topologies/rails.hpp"
#include "sim/kernel/topologies/torus.hpp"
#include "sim/kernel/topologies/tree.hpp"

namespace llmscape::kernel {

const Family<Topology>& topologies() {
  static const Family<Topology> family(
      "topology", "kind",
      {
          member<Tree, Topology>("tree", "racks and sites, as hardware.fabric names them; what an absent key says",
                                 tree_fields()),
          member<FatTree, Topology>("fat_tree", "levels of switches; the place of the receiver chooses the way up",
                                    fat_tree_fields()),
          member<Rails, Topology>("rails", "a switch for each index of devices in their nodes", rails_fields()),
          member<Torus, Topology>("torus", "a ring of nodes along each dimension, which are crossed in turn",
                                  torus_fields()),
          member<Dragonfly, Topology>("dragonfly", "groups of routers, each joined to every other; shortest ways",
                                      dragonfly_fields()),
          platform_kind(),
      });
  return family;
}

}  // namespace llmscape::kernel
