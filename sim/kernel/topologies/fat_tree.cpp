// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/fat_tree.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/kernel/zone_hosts.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

std::optional<std::int64_t> FatTree::places() const {
  return std::accumulate(down.begin(), down.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<sg::Host*> FatTree::make_zone(const sg::NetZone* parent, const std::string& name) const {
  const std::vector<unsigned> below(down.begin(), down.end()), above(up.begin(), up.end()), cables(down.size(), 1);
  std::vector<sg::Host*> hosts;
  sg::create_fatTree_zone(name, parent, sg::FatTreeParams(static_cast<unsigned>(down.size()), below, above, cables),
                          host_at_each_place(name, hosts), bandwidth.value.si(), 0,
                          sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return hosts;
}

const Fields<FatTree>& fat_tree_fields() {
  static const Fields<FatTree> fields = [] {
    Fields<FatTree> f("fat_tree", "levels of switches over the nodes");
    f.add("down", &FatTree::down,
          "level by level from below: nodes under a switch, switches under one of the next level, ...")
        .required()
        .between(1, 4096);
    f.add("up", &FatTree::up, "level by level from below: switches over a node, switches over one of these, ...")
        .required()
        .between(1, 4096);
    add_cable_fields(f);
    f.check([](const FatTree& tree, const YamlNode& node, Diagnostics& diagnostics) {
      if (tree.down.empty() || tree.down.size() != tree.up.size())
        diagnostics.error(node.where,
                          "'down' and 'up' have to have a number for each level of switches, the same levels",
                          "{kind: fat_tree, down: [16, 8], up: [1, 16], ...}");
      double places = 1;
      for (const std::int64_t below : tree.down) places *= static_cast<double>(below);
      if (places > kMostPlaces) too_many_places(places, node, diagnostics);
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::kernel
