// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/fluid_fabric.hpp"

#include <algorithm>
#include <limits>

#include "sim/kernel/max_min.hpp"

namespace llmscape::kernel {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

}  // namespace

void FluidFabric::look_ahead() {
  next_ = kNever;
  for (const auto& flow : flows_) next_ = std::min(next_, flow->flows ? flow->ends : flow->begins);
}

void FluidFabric::start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) {
  flows_.push_back(std::make_unique<Flow>(Flow{started_++, from, to, &route, &lanes_[&route], bytes.si(), 0,
                                               now + route.latency, kNever, false, false, std::move(done)}));
  next_ = std::min(next_, flows_.back()->begins);
}

void FluidFabric::apply_bandwidth(Link, BytesPerSecond, Seconds now) { share(now); }

// What crosses a link that is down is lost for good, also where the link is repaired in the same instant.
void FluidFabric::move_on(Seconds now) {
  for (auto& [route, lane] : lanes_) lane.flows = 0;
  for (const auto& flow : flows_) {
    if (!flow->flows || flow->lost) continue;
    flow->left = std::max(0.0, flow->left - flow->rate * (now - shared_).si());
    if (up(*flow->route)) {
      ++flow->lane->flows;
    } else {
      flow->lost = true;
      flow->ends = now;
    }
  }
  shared_ = now;
}

// Moves every flow on to `now` and sets the rates from here.
void FluidFabric::share(Seconds now) {
  move_on(now);
  std::vector<Crowd> crowds;
  std::vector<Lane*> lanes;
  for (auto& [route, lane] : lanes_) {
    if (lane.flows == 0) continue;
    crowds.push_back({&route->path, lane.flows});
    lanes.push_back(&lane);
  }
  if (!crowds.empty()) {
    std::vector<double> bandwidths;
    for (const LinkState& link : link_states()) bandwidths.push_back(link.bandwidth.si());
    const std::vector<double> rates = max_min_rates(crowds, bandwidths);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i]->rate = rates[i];
  }
  for (const auto& flow : flows_) {
    if (!flow->flows || flow->lost) continue;
    flow->rate = flow->lane->rate;
    flow->ends = now + Seconds(flow->left / flow->rate);
  }
  look_ahead();
}

void FluidFabric::advance(Seconds now) {
  if (next_ > now) return;
  for (const auto& flow : flows_) {
    if (flow->flows || flow->begins > now) continue;
    flow->flows = true;
    flow->rate = 0;
    if (up(*flow->route)) on_begin(*flow);
  }
  std::vector<std::unique_ptr<Flow>> ended;
  std::erase_if(flows_, [&](std::unique_ptr<Flow>& flow) {
    if (!flow->flows || flow->ends > now) return false;
    ended.push_back(std::move(flow));
    return true;
  });
  share(now);
  for (const auto& flow : ended) {
    on_end(*flow);
    flow->done(!flow->lost, now);
  }
}

}  // namespace llmscape::kernel
