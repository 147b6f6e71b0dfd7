// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/fluid_fabric.hpp"

#include <algorithm>
#include <limits>

#include "sim/kernel/max_min.hpp"

namespace llmscape::kernel {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

}  // namespace

Seconds FluidFabric::next_event() const {
  Seconds next = kNever;
  for (const Flow& flow : flows_) next = std::min(next, flow.flows ? flow.ends : flow.begins);
  return next;
}

void FluidFabric::start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) {
  flows_.push_back(
      {started_++, from, to, &route, bytes.si(), 0, now + route.latency, kNever, false, false, std::move(done)});
}

void FluidFabric::apply_bandwidth(Link, BytesPerSecond, Seconds now) { share(now); }

// Moves every flow on to `now` and sets the rates from here. What crosses a link that is down is lost for good, also
// where the link is repaired in the same instant.
void FluidFabric::share(Seconds now) {
  std::vector<const std::vector<std::size_t>*> paths;
  std::vector<Flow*> moving;
  for (Flow& flow : flows_) {
    if (!flow.flows || flow.lost) continue;
    flow.left = std::max(0.0, flow.left - flow.rate * (now - shared_).si());
    if (up(*flow.route)) {
      paths.push_back(&flow.route->path);
      moving.push_back(&flow);
    } else {
      flow.lost = true;
      flow.ends = now;
    }
  }
  std::vector<double> bandwidths;
  for (const LinkState& link : link_states()) bandwidths.push_back(link.bandwidth.si());
  const std::vector<double> rates = max_min_rates(paths, bandwidths);
  for (std::size_t i = 0; i < moving.size(); ++i) {
    moving[i]->rate = rates[i];
    moving[i]->ends = now + Seconds(moving[i]->left / rates[i]);
  }
  shared_ = now;
}

void FluidFabric::advance(Seconds now) {
  if (next_event() > now) return;
  for (Flow& flow : flows_) {
    if (flow.flows || flow.begins > now) continue;
    flow.flows = true;
    flow.rate = 0;
    if (up(*flow.route)) on_begin(flow);
  }
  std::vector<Flow> ended;
  std::erase_if(flows_, [&](Flow& flow) {
    if (!flow.flows || flow.ends > now) return false;
    ended.push_back(std::move(flow));
    return true;
  });
  share(now);
  for (const Flow& flow : ended) {
    on_end(flow);
    flow.done(!flow.lost, now);
  }
}

}  // namespace llmscape::kernel
