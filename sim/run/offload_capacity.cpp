// SPDX-License-Identifier: Apache-2.0
#include "sim/run/offload_capacity.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace llmscape::run {
namespace {

double mean(std::vector<double>::const_iterator from, std::vector<double>::const_iterator to) {
  return std::accumulate(from, to, 0.0) / static_cast<double>(to - from);
}

// What so many instances reach of the network of the nodes that they fill.
BytesPerSecond out_of(const std::optional<hardware::Node>& node, std::int64_t planes, double instances) {
  if (!node) return BytesPerSecond(std::numeric_limits<double>::infinity());
  const auto all = static_cast<std::int64_t>(instances);
  const auto reached = [&](std::int64_t some) {
    if (planes == 1) return node->reached_by(some);
    const std::int64_t rails = some == 0 ? 0 : (some - 1) * planes / node->devices + 1;
    return static_cast<double>(rails) / static_cast<double>(planes) * *node->uplink;
  };
  return static_cast<double>(all / node->devices) * reached(node->devices) + reached(all % node->devices);
}

// All but the times.
OffloadCapacity rates(const OffloadSystem& system, double threshold) {
  const std::vector<double>& lengths = system.lengths;
  const auto first_long = std::ranges::upper_bound(lengths, threshold);
  OffloadCapacity capacity;
  const double all = static_cast<double>(lengths.size());
  const double p = capacity.offloaded = static_cast<double>(lengths.end() - first_long) / all;
  capacity.decode = system.decode_instances * system.decode_rate;
  capacity.total = capacity.decode;
  if (p > 0) {
    const double length = mean(first_long, lengths.end());
    capacity.remote =
        std::min(system.remote.count / system.remote.seconds.at(length),
                 system.link.between(system.remote.count, system.decode_instances).si() / system.kv_bytes.at(length));
    capacity.total = std::min(capacity.total, capacity.remote / p);
  }
  if (p < 1) {
    capacity.local = system.local.count / system.local.seconds.at(mean(lengths.begin(), first_long));
    capacity.total = std::min(capacity.total, capacity.local / (1 - p));
  }
  if (p > 0) capacity.egress = BytesPerSecond(p * capacity.total * system.kv_bytes.at(mean(first_long, lengths.end())));
  return capacity;
}

}  // namespace

BytesPerSecond OffloadLink::between(double remote_instances, double home_instances) const {
  return std::min({shared, out_of(remote, planes, remote_instances), out_of(home, planes, home_instances)});
}

OffloadCapacity offload_capacity(const OffloadSystem& system, double threshold) {
  const std::vector<double>& lengths = system.lengths;
  const auto first_long = std::ranges::upper_bound(lengths, threshold);
  OffloadCapacity capacity = rates(system, threshold);
  const double link = system.link.between(1, 1).si();
  std::vector<double> times;
  for (auto length = lengths.begin(); length != lengths.end(); ++length)
    times.push_back(length < first_long
                        ? system.local.seconds.at(*length)
                        : std::max(system.remote.seconds.at(*length), system.kv_bytes.at(*length) / link));
  capacity.mean_ttft = Seconds(mean(times.begin(), times.end()));
  std::ranges::sort(times);
  capacity.p90_ttft = Seconds(times[static_cast<std::size_t>(0.9 * static_cast<double>(times.size()))]);
  return capacity;
}

OffloadPlan best_offload(OffloadSystem system, std::int64_t instances, const std::vector<double>& thresholds) {
  OffloadPlan best;
  for (std::int64_t local = 0; local < instances; ++local) {
    system.local.count = static_cast<double>(local);
    system.decode_instances = static_cast<double>(instances - local);
    for (const double threshold : thresholds) {
      const OffloadCapacity capacity = rates(system, threshold);
      if (capacity.total > best.capacity.total) best = {threshold, local, instances - local, capacity};
    }
  }
  system.local.count = static_cast<double>(best.local);
  if (best.decode > 0) {
    system.decode_instances = static_cast<double>(best.decode);
    best.capacity = offload_capacity(system, best.threshold);
  }
  return best;
}

}  // namespace llmscape::run
