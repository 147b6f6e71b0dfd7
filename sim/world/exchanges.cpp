// SPDX-License-Identifier: Apache-2.0
#include "sim/world/exchanges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace llmscape::world {

Exchange::Exchange(std::string name, const Seat& all, int first_replica, std::int64_t devices_of_rank,
                   engine::NodeTraffic traffic, kernel::Fabric& fabric, std::function<void()> arrived)
    : name_(std::move(name)), first_replica_(first_replica), devices_of_rank_(devices_of_rank),
      first_device_(all.first_device), traffic_(std::move(traffic)), fabric_(fabric), arrived_(std::move(arrived)) {
  for (const Seat& part : by_node(all)) parts_.push_back({part, {}, {}, {}});
  for (Part& part : parts_) part.around.resize(parts_.size());
}

Exchange::Rank Exchange::rank(std::int64_t number) const {
  Rank rank{first_device_ + number * devices_of_rank_, first_device_ + (number + 1) * devices_of_rank_, 0, 0};
  while (devices_of(rank, parts_[rank.first]) == 0) ++rank.first;
  rank.last = rank.first;
  while (rank.last + 1 < parts_.size() && devices_of(rank, parts_[rank.last + 1]) > 0) ++rank.last;
  return rank;
}

std::int64_t Exchange::devices_of(const Rank& rank, const Part& part) const {
  return std::max<std::int64_t>(0, std::min(rank.end_device, part.seat.first_device + part.seat.devices) -
                                       std::max(rank.first_device, part.seat.first_device));
}

void Exchange::connect(Cables& cables) {
  std::vector<Duplex> own;
  for (Part& part : parts_) {
    const std::string name = fmt::format("{}, node {} of {}", name_, node_of(part.seat), part.seat.group);
    own.push_back(
        cables.duplex("collectives of " + name, static_cast<double>(part.seat.devices) * traffic_.bandwidth()));
    for (const std::int64_t plane : cables.planes_of(part.seat))
      part.lanes.push_back(fabric_.add_endpoint(fmt::format("{}, plane {}", name, plane)));
  }
  std::vector<std::vector<Seconds>> beyond(parts_.size(), std::vector<Seconds>(parts_.size()));
  for (std::size_t from = 0; from < parts_.size(); ++from) {
    const auto planes = cables.planes_of(parts_[from].seat);
    for (std::size_t to = 0; to < parts_.size(); ++to) {
      if (from == to) continue;
      Seconds& longer = beyond[from][to];
      for (std::size_t lane = 0; lane < planes.size(); ++lane) {
        std::vector<kernel::Fabric::Link> path = {own[from].out};
        const auto way = cables.way(parts_[from].seat, parts_[to].seat, planes[lane]);
        path.insert(path.end(), way.links.begin(), way.links.end());
        path.push_back(own[to].in);
        fabric_.add_route(parts_[from].lanes[lane], parts_[to].lanes.front(), path, Seconds());
        longer = std::max(longer, way.latency - traffic_.latency());
      }
      to_all_ = std::max(to_all_, longer);
    }
  }
  const std::int64_t devices = parts_.back().seat.first_device + parts_.back().seat.devices - first_device_;
  for (std::int64_t number = 0; number < devices / devices_of_rank_; ++number) {
    const Rank one = rank(number);
    for (std::size_t part = one.first; part <= one.last; ++part) {
      in_rank_ = std::max(in_rank_, beyond[part][one.next_in(part)]);
      by_rank_ = std::max(by_rank_, beyond[part][one.next_by(part, parts_.size())]);
    }
  }
}

// All devices of a rank send as much, those of one node together.
serving::StepExchange::Share Exchange::plan(int index, const models::Batch& batch) {
  const engine::NodeBytes each = traffic_.of(batch);
  const Rank own = rank(index - first_replica_);
  for (std::size_t i = own.first; i <= own.last; ++i) {
    Part& part = parts_[i];
    const auto here = static_cast<double>(devices_of(own, part));
    part.around[own.next_in(i)] += here * each.in_rank;
    part.around[own.next_by(i, parts_.size())] += here * each.by_rank;
    part.sent.to_all += here * each.to_all;
    part.sent.from_all += here * each.from_all;
  }
  return {traffic_.priced(each),
          each.hops_in_rank * in_rank_ + each.hops_by_rank * by_rank_ + each.hops_to_all * to_all_};
}

Bytes Exchange::sent(std::size_t from, std::size_t to) const {
  return parts_[from].sent.to_all / static_cast<double>(parts_.size() - 1) + parts_[from].around[to];
}

Bytes Exchange::returned(std::size_t, std::size_t to) const {
  return parts_[to].sent.from_all / static_cast<double>(parts_.size() - 1);
}

Exchange::Flows Exchange::flows(Bytes (Exchange::*bytes_of)(std::size_t, std::size_t) const) const {
  Flows all;
  for (std::size_t from = 0; from < parts_.size(); ++from)
    for (std::size_t to = 0; to < parts_.size(); ++to) {
      if (from == to) continue;
      const Bytes bytes = (this->*bytes_of)(from, to) / static_cast<double>(parts_[from].lanes.size());
      if (bytes >= Bytes(1)) all.push_back({from, to, bytes});
    }
  return all;
}

void Exchange::start(const Flows& flows, Seconds now, std::function<void(Seconds at)> done) {
  struct Open {
    std::size_t flows = 0;
    std::function<void(Seconds)> done;
  };
  auto open = std::make_shared<Open>(Open{0, std::move(done)});
  for (const Flow& flow : flows)
    for (const kernel::Fabric::Endpoint lane : parts_[flow.from].lanes) {
      ++open->flows;
      fabric_.move(lane, parts_[flow.to].lanes.front(), flow.bytes, now, [this, open](bool arrived, Seconds at) {
        if (!arrived) throw std::logic_error("a collective of " + name_ + " crossed a link that failed");
        if (--open->flows == 0) open->done(at);
      });
    }
}

bool Exchange::begin(Seconds now, std::function<void(Seconds at)> done) {
  const Flows there = flows(&Exchange::sent), back = flows(&Exchange::returned);
  for (Part& part : parts_) {
    part.sent = {};
    std::ranges::fill(part.around, Bytes());
  }
  const auto end = [this, done = std::move(done)](Seconds at) {
    done(at);
    arrived_();
  };
  if (there.empty() && back.empty()) return false;
  if (there.empty() || back.empty()) {
    start(there.empty() ? back : there, now, end);
  } else {
    start(there, now, [this, back, end](Seconds at) { start(back, at, end); });
  }
  return true;
}

}  // namespace llmscape::world
