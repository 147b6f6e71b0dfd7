// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/max_min.hpp"

#include <algorithm>
#include <functional>

namespace llmscape::kernel {

std::size_t MaxMinRates::add_crowd(const std::vector<std::size_t>& path) {
  crowds_.push_back({&path, std::vector<std::size_t>(path.size())});
  for (const std::size_t link : path) link_at(link);
  return crowds_.size() - 1;
}

MaxMinRates::Link& MaxMinRates::link_at(std::size_t link) {
  if (link >= links_.size()) links_.resize(link + 1);
  return links_[link];
}

void MaxMinRates::set_bandwidth(std::size_t link, double bandwidth) {
  if (link_at(link).bandwidth == bandwidth) return;
  links_[link].bandwidth = bandwidth;
  changed_.push_back(link);
}

void MaxMinRates::set_flows(std::size_t crowd, std::size_t flows) {
  Crowd& of = crowds_[crowd];
  if (of.flows == flows) return;
  if (of.flows == 0) enter(crowd);
  if (flows == 0) leave(crowd);
  of.flows = flows;
  changed_.insert(changed_.end(), of.path->begin(), of.path->end());
}

void MaxMinRates::enter(std::size_t crowd) {
  Crowd& of = crowds_[crowd];
  for (std::size_t hop = 0; hop < of.path->size(); ++hop) {
    std::vector<std::size_t>& on = links_[(*of.path)[hop]].crowds;
    of.places[hop] = on.size();
    on.push_back(crowd);
  }
}

// The last one of each list takes its place.
void MaxMinRates::leave(std::size_t crowd) {
  Crowd& of = crowds_[crowd];
  of.rate = 0;
  for (std::size_t hop = 0; hop < of.path->size(); ++hop) {
    const std::size_t link = (*of.path)[hop];
    std::vector<std::size_t>& on = links_[link].crowds;
    Crowd& last = crowds_[on.back()];
    const auto its_hop = std::ranges::find(*last.path, link) - last.path->begin();
    last.places[static_cast<std::size_t>(its_hop)] = of.places[hop];
    on[of.places[hop]] = on.back();
    on.pop_back();
  }
}

void MaxMinRates::reach(std::size_t link) {
  Link& of = links_[link];
  if (of.reached == settlement_) return;
  of.reached = settlement_;
  of.left = of.bandwidth;
  of.rising = 0;
  reached_links_.push_back(link);
}

// From the links that changed over the crowds on them to all whose rates may move.
void MaxMinRates::reach_all() {
  ++settlement_;
  reached_links_.clear();
  reached_crowds_.clear();
  for (const std::size_t link : changed_) reach(link);
  changed_.clear();
  for (std::size_t next = 0; next < reached_links_.size(); ++next)
    for (const std::size_t crowd : links_[reached_links_[next]].crowds) {
      Crowd& of = crowds_[crowd];
      if (of.reached == settlement_) continue;
      of.reached = settlement_;
      of.rising = true;
      reached_crowds_.push_back(crowd);
      for (const std::size_t link : *of.path) {
        reach(link);
        links_[link].rising += of.flows;
      }
    }
  visits_ += static_cast<std::int64_t>(reached_crowds_.size());
}

void MaxMinRates::fix(std::size_t crowd, double rate) {
  Crowd& of = crowds_[crowd];
  if (!of.rising) return;
  of.rising = false;
  of.rate = rate;
  for (const std::size_t link : *of.path) {
    links_[link].left = std::max(0.0, links_[link].left - static_cast<double>(of.flows) * rate);
    links_[link].rising -= of.flows;
  }
}

const std::vector<std::size_t>& MaxMinRates::settle() {
  reach_all();
  const auto share_of = [this](std::size_t link) {
    return links_[link].left / static_cast<double>(links_[link].rising);
  };
  filling_.clear();
  for (const std::size_t link : reached_links_)
    if (links_[link].rising > 0) filling_.emplace_back(share_of(link), link);
  std::ranges::make_heap(filling_, std::greater<>());
  while (!filling_.empty()) {
    std::ranges::pop_heap(filling_, std::greater<>());
    const auto [known, fullest] = filling_.back();
    filling_.pop_back();
    if (links_[fullest].rising == 0) continue;
    // Flows that other links held back since have left it more.
    const double share = share_of(fullest);
    if (share > known) {
      filling_.emplace_back(share, fullest);
      std::ranges::push_heap(filling_, std::greater<>());
      continue;
    }
    for (const std::size_t crowd : links_[fullest].crowds) fix(crowd, share);
  }
  return reached_crowds_;
}

}  // namespace llmscape::kernel
