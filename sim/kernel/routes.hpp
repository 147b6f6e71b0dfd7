// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::kernel {

// What goes from one endpoint to another one crosses its links, after its latency.
struct Route {
  std::uint32_t from, to;
  std::uint32_t first_hop, hops;  // in the list of all paths
  Seconds latency;
};

// The routes between endpoints. A fleet has one for each pair of replicas that send to each other, a quarter of a
// million from 512 to 512: in some 40 bytes each.
class Routes {
 public:
  // The last one that is added for two endpoints is theirs. Routes that were found before may move.
  void add(std::size_t from, std::size_t to, std::span<const std::size_t> path, Seconds latency);

  [[nodiscard]] std::span<const Route> all();  // in order of their endpoints
  // nullptr: there is none.
  [[nodiscard]] const Route* find(std::size_t from, std::size_t to);
  [[nodiscard]] std::span<const std::uint32_t> path(const Route& route) const {
    return std::span(hops_).subspan(route.first_hop, route.hops);
  }
  // Of a route in all().
  [[nodiscard]] std::size_t number(const Route& route) const { return static_cast<std::size_t>(&route - all_.data()); }

 private:
  std::vector<Route> all_;
  std::vector<std::uint32_t> hops_;
  bool in_order_ = true;
};

}  // namespace llmscape::kernel
