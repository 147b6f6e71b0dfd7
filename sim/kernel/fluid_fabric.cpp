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

void FluidFabric::start(Endpoint, Endpoint, const Route& route, Bytes bytes, Seconds now, Done done) {
  flows_.push_back({&route, bytes.si(), 0, now + route.latency, kNever, false, std::move(done)});
}

void FluidFabric::apply_bandwidth(Link, BytesPerSecond, Seconds now) { share(now); }

// Moves every flow on to `now` and sets the rates from here.
void FluidFabric::share(Seconds now) {
  std::vector<const std::vector<std::size_t>*> paths;
  std::vector<Flow*> moving;
  for (Flow& flow : flows_) {
    if (!flow.flows) continue;
    flow.left = std::max(0.0, flow.left - flow.rate * (now - shared_).si());
    if (!up(*flow.route)) continue;
    paths.push_back(&flow.route->path);
    moving.push_back(&flow);
  }
  std::vector<double> bandwidths;
  for (const LinkState& link : link_states()) bandwidths.push_back(link.bandwidth.si());
  const std::vector<double> rates = max_min_rates(paths, bandwidths);
  for (std::size_t i = 0; i < moving.size(); ++i) {
    moving[i]->rate = rates[i];
    moving[i]->ends = now + Seconds(moving[i]->left / rates[i]);
  }
  for (Flow& flow : flows_)  // a link on the way is down
    if (flow.flows && !up(*flow.route)) flow.ends = now;
  shared_ = now;
}

void FluidFabric::advance(Seconds now) {
  for (Flow& flow : flows_) {
    if (flow.flows || flow.begins > now) continue;
    flow.flows = true;
    flow.rate = 0;
  }
  std::vector<std::pair<Done, bool>> ended;
  std::erase_if(flows_, [&](Flow& flow) {
    if (!flow.flows || flow.ends > now) return false;
    ended.emplace_back(std::move(flow.done), up(*flow.route));
    return true;
  });
  share(now);
  for (auto& [done, arrived] : ended) done(arrived, now);
}

}  // namespace llmscape::kernel
