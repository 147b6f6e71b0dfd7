// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/torus.hpp"

#include <functional>
#include <numeric>

namespace llmscape::kernel {

std::optional<std::int64_t> Torus::places() const {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1}, std::multiplies<>());
}

const Fields<Torus>& torus_fields() {
  static const Fields<Torus> fields = [] {
    Fields<Torus> f("torus", "a ring of nodes along each dimension");
    f.add("dimensions", &Torus::dimensions, "nodes along each dimension; those along the first have places in a row")
        .required()
        .between(1, 4096);
    add_cable_fields(f);
    f.check([](const Torus& torus, const YamlNode& node, Diagnostics& diagnostics) {
      if (torus.dimensions.empty()) diagnostics.error(node.where, "'dimensions' has to have one at least", "[8, 8, 2]");
      double places = 1;
      for (const std::int64_t along : torus.dimensions) places *= static_cast<double>(along);
      if (places > kMostPlaces) too_many_places(places, node, diagnostics);
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::kernel
