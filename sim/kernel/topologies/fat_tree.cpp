// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/fat_tree.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace llmscape::kernel {

std::optional<std::int64_t> FatTree::places() const {
  return std::accumulate(down.begin(), down.end(), std::int64_t{1}, std::multiplies<>());
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
