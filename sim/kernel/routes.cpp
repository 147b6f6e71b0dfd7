// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/routes.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace llmscape::kernel {
namespace {

std::pair<std::uint32_t, std::uint32_t> ends(const Route& route) { return {route.from, route.to}; }

}  // namespace

void Routes::add(std::size_t from, std::size_t to, std::span<const std::size_t> path, Seconds latency) {
  const auto narrow = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  const Route route{narrow(from), narrow(to), narrow(hops_.size()), narrow(path.size()), latency};
  for (const std::size_t link : path) hops_.push_back(narrow(link));
  in_order_ = in_order_ && (all_.empty() || ends(all_.back()) < ends(route));
  all_.push_back(route);
}

std::span<const Route> Routes::all() {
  if (!in_order_) {
    std::ranges::stable_sort(all_, {}, ends);
    // Of several between the same two the last: the first one backwards.
    const auto rest = std::ranges::unique(all_ | std::views::reverse, {}, ends);
    all_.erase(all_.begin(), rest.begin().base());
    in_order_ = true;
  }
  return all_;
}

const Route* Routes::find(std::size_t from, std::size_t to) {
  const std::pair key(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
  const std::span<const Route> routes = all();
  const auto found = std::ranges::lower_bound(routes, key, {}, ends);
  return found != routes.end() && ends(*found) == key ? &*found : nullptr;
}

}  // namespace llmscape::kernel
