// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/binding_links.hpp"

#include <algorithm>
#include <iterator>

namespace llmscape::kernel {
namespace {

template <class Links>
bool has(const Links& links, std::size_t link) {
  return std::ranges::find(links, link) != links.end();
}

}  // namespace

void BindingLinks::add_route(std::span<const std::uint32_t> path) {
  for (const std::size_t link : path) {
    if (link >= links_.size()) links_.resize(link + 1);
    Link& of = links_[link];
    if (of.crossed) {
      std::erase_if(of.companions, [&](std::size_t other) { return !has(path, other); });
    } else {
      of.crossed = true;
      std::ranges::copy_if(path, std::back_inserter(of.companions), [&](std::size_t other) { return other != link; });
    }
  }
}

// Of links that are equal in all the first one does.
bool BindingLinks::binds(std::size_t link, const std::vector<double>& bandwidths) const {
  return std::ranges::none_of(links_[link].companions, [&](std::size_t other) {
    if (bandwidths[other] != bandwidths[link]) return bandwidths[other] < bandwidths[link];
    return other < link || !has(links_[other].companions, link);
  });
}

bool BindingLinks::set_bandwidths(const std::vector<double>& bandwidths) {
  bool changed = false;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    const bool now = binds(link, bandwidths);
    changed = changed || now != links_[link].binds;
    links_[link].binds = now;
  }
  return changed;
}

std::vector<std::size_t> BindingLinks::on(std::span<const std::uint32_t> path) const {
  std::vector<std::size_t> binding;
  std::ranges::copy_if(path, std::back_inserter(binding), [this](std::size_t link) { return links_[link].binds; });
  return binding;
}

}  // namespace llmscape::kernel
