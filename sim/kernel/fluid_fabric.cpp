// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/fluid_fabric.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace llmscape::kernel {
namespace {

constexpr std::uint32_t kNoLane = std::numeric_limits<std::uint32_t>::max();
constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// What a heap has in front comes after all others. Counts what it looks at.
template <auto Key>
struct Later {
  std::int64_t& visits;
  template <class Flow>
  bool operator()(const Flow& a, const Flow& b) const {
    ++visits;
    return std::pair((*b).*Key, b->id) < std::pair((*a).*Key, a->id);
  }
};

template <class Flow, class Later>
Flow take_first(std::vector<Flow>& heap, Later later) {
  std::ranges::pop_heap(heap, later);
  Flow first = std::move(heap.back());
  heap.pop_back();
  return first;
}

}  // namespace

Seconds FluidFabric::next_event() const {
  Seconds next = waiting_.empty() ? kNever : waiting_.front()->begins;
  if (!ends_.empty()) next = std::min(next, ends_.front_key());
  return lost_.empty() ? next : std::min(next, lost_at_);
}

Fabric::Transfer FluidFabric::start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now,
                                    Done done) {
  if (started_ == 0) {
    for (const Route& way : routes().all()) binding_.add_route(path(way));
    lanes_by_route_.assign(routes().all().size(), kNoLane);
    binding_.set_bandwidths(bandwidths());
  }
  waiting_.push_back(std::make_unique<Flow>(Flow{.id = started_++,
                                                 .from = from,
                                                 .to = to,
                                                 .route = &route,
                                                 .bytes = bytes,
                                                 .begins = now + route.latency,
                                                 .ends = kNever,
                                                 .until = bytes.si(),
                                                 .done = std::move(done)}));
  std::ranges::push_heap(waiting_, Later<&Flow::begins>{visits_});
  return started_ - 1;
}

std::vector<double> FluidFabric::bandwidths() const {
  std::vector<double> all;
  for (const LinkState& link : link_states()) all.push_back(link.bandwidth.si());
  return all;
}

std::size_t FluidFabric::lane_of(const Route& route) {
  std::uint32_t& known = lanes_by_route_[routes().number(route)];
  if (known != kNoLane) return known;
  const auto [lane, fresh] = lanes_by_links_.emplace(binding_.on(path(route)), lanes_.size());
  if (fresh) {
    lanes_.emplace_back();
    rates_.add_crowd(lane->first);
    for (const Link link : lane->first) rates_.set_bandwidth(link, link_states()[link].bandwidth.si());
  }
  return known = static_cast<std::uint32_t>(lane->second);
}

// Of the first flow.
Seconds FluidFabric::end_of(const Lane& lane) {
  return lane.since + Seconds(std::max(0.0, lane.flows.front()->until - lane.served) / lane.rate);
}

void FluidFabric::move_on(Lane& lane, Seconds now) {
  lane.served += lane.rate * (now - lane.since).si();
  lane.since = now;
}

Bytes FluidFabric::moved(const Flow& flow, const Lane& lane, Seconds now) {
  const double served = lane.served + lane.rate * (now - lane.since).si();
  return flow.bytes - Bytes(std::clamp(flow.until - served, 0.0, flow.bytes.si()));
}

void FluidFabric::add_moving(std::vector<Bytes>& carried, Seconds now) const {
  for (const Lane& lane : lanes_)
    for (const std::unique_ptr<Flow>& flow : lane.flows)
      for (const Link link : path(*flow->route)) carried[link] += moved(*flow, lane, now);
}

void FluidFabric::lose(std::unique_ptr<Flow> flow, Seconds now) {
  flow->lost = true;
  flow->ends = lost_at_ = now;
  lost_.push_back(std::move(flow));
}

void FluidFabric::begin(std::unique_ptr<Flow> flow, Seconds now) {
  if (!up(*flow->route)) return lose(std::move(flow), now);
  on_begin(*flow);
  ++under_way_;
  enter(std::move(flow), now);
}

void FluidFabric::enter(std::unique_ptr<Flow> flow, Seconds now) {
  const std::size_t index = lane_of(*flow->route);
  Lane& lane = lanes_[index];
  move_on(lane, now);
  flow->until += lane.served;
  lane.flows.push_back(std::move(flow));
  std::ranges::push_heap(lane.flows, Later<&Flow::until>{visits_});
  rates_.set_flows(index, lane.flows.size());
}

// All flows of a lane that end until `now`, to the last bit.
void FluidFabric::end_first(std::size_t index, Flows& ended, Seconds now) {
  Lane& lane = lanes_[index];
  while (!lane.flows.empty() && end_of(lane) <= now) {
    ended.push_back(take_first(lane.flows, Later<&Flow::until>{visits_}));
    ended.back()->ends = now;
    --under_way_;
  }
  move_on(lane, now);
  ends_.erase(index);
  left(index);
}

// Flows have left a lane.
void FluidFabric::left(std::size_t index) {
  Lane& lane = lanes_[index];
  if (lane.flows.empty()) lane.served = lane.rate = 0;
  rates_.set_flows(index, lane.flows.size());
}

// Sets rates from here.
void FluidFabric::share(Seconds now) {
  for (const std::size_t index : rates_.settle()) {
    Lane& lane = lanes_[index];
    if (lane.rate != rates_.rate(index)) {
      move_on(lane, now);
      lane.rate = rates_.rate(index);
    }
    ends_.set(index, end_of(lane));
  }
}

// Flows of a lane are lost.
void FluidFabric::take_out(std::size_t index, std::ranges::subrange<Flows::iterator> lost, Seconds now) {
  Flows& flows = lanes_[index].flows;
  under_way_ -= lost.size();
  for (std::unique_ptr<Flow>& flow : lost) {
    carry(*flow->route, moved(*flow, lanes_[index], now));
    lose(std::move(flow), now);
  }
  flows.erase(lost.begin(), lost.end());
  std::ranges::make_heap(flows, Later<&Flow::until>{visits_});
  ends_.erase(index);
  left(index);
}

// What crosses a link that is down is lost for good, also where the link is repaired in the same instant.
void FluidFabric::lose_over(Link link, Seconds now) {
  for (std::size_t index = 0; index < lanes_.size(); ++index) {
    Flows& flows = lanes_[index].flows;
    const auto lost =
        std::ranges::stable_partition(flows, [&](const auto& flow) { return !crosses(*flow->route, link); });
    if (lost.empty()) continue;
    take_out(index, lost, now);
  }
}

void FluidFabric::cancel(Transfer transfer, Seconds now) {
  const auto is_it = [transfer](const std::unique_ptr<Flow>& flow) { return flow->id == transfer; };
  if (const auto found = std::ranges::find_if(waiting_, is_it); found != waiting_.end()) {
    lose(std::move(*found), now);
    waiting_.erase(found);
    std::ranges::make_heap(waiting_, Later<&Flow::begins>{visits_});
    return;
  }
  for (std::size_t index = 0; index < lanes_.size(); ++index) {
    Flows& flows = lanes_[index].flows;
    const auto found = std::ranges::find_if(flows, is_it);
    if (found == flows.end()) continue;
    take_out(index, {found, found + 1}, now);
    return share(now);
  }
}

// All lanes anew, as other links bind; rates are set when they are shared.
void FluidFabric::lay_lanes(Seconds now) {
  Flows flows;
  for (Lane& lane : lanes_) {
    move_on(lane, now);
    for (std::unique_ptr<Flow>& flow : lane.flows) {
      flow->until = std::max(0.0, flow->until - lane.served);
      flows.push_back(std::move(flow));
    }
  }
  visits_ += rates_.visits();
  rates_ = {};
  lanes_.clear();
  lanes_by_links_.clear();
  std::ranges::fill(lanes_by_route_, kNoLane);
  ends_.clear();
  for (std::unique_ptr<Flow>& flow : flows) enter(std::move(flow), now);
}

void FluidFabric::apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) {
  if (started_ == 0) return;
  if (bandwidth == BytesPerSecond()) lose_over(link, now);
  if (binding_.set_bandwidths(bandwidths())) lay_lanes(now);
  else rates_.set_bandwidth(link, bandwidth.si());
  share(now);
}

void FluidFabric::advance(Seconds now) {
  if (next_event() > now) return;
  Flows ended = std::exchange(lost_, {});
  while (!ends_.empty() && ends_.front_key() <= now) end_first(ends_.front(), ended, now);
  while (!waiting_.empty() && waiting_.front()->begins <= now) {
    begin(take_first(waiting_, Later<&Flow::begins>{visits_}), now);
  }
  share(now);
  std::ranges::sort(ended, {}, [](const std::unique_ptr<Flow>& flow) { return flow->id; });
  for (const auto& flow : ended) {
    on_end(*flow);
    flow->done(!flow->lost, now);
  }
}

}  // namespace llmscape::kernel
