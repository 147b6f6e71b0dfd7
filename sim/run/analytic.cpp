// SPDX-License-Identifier: Apache-2.0
#include "sim/run/analytic.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hardware/profile/profile_device.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::run {
namespace {

constexpr std::int64_t kDraws = 100'000;
constexpr std::size_t kLengths = 4'000;   // quantiles of those draws that are calculated with
constexpr std::size_t kThresholds = 400;  // of those quantiles, that are tried as thresholds
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// One pool and where it stands.
struct Place {
  const scenario::PoolConfig* pool = nullptr;
  const hardware::ProfileDevice* device = nullptr;
  std::string site;
  double instances = 0;
};

struct Workload {
  std::vector<double> lengths;
  double mean_output = 0;
};

class Reader {
 public:
  Reader(const scenario::Scenario& scenario, Diagnostics& diagnostics)
      : scenario_(scenario), diagnostics_(diagnostics) {}

  std::optional<Analysis> read() {
    for (const scenario::PoolConfig& pool : scenario_.pools) {
      if (pool.role == serving::Role::any) complain("takes pools of role 'prefill' and 'decode' only");
      auto& places = pool.role == serving::Role::decode ? decoding_ : prefilling_;
      places.push_back(place_of(pool));
    }
    if (decoding_.size() != 1) complain("takes one pool of role 'decode'");
    if (errors_ > 0) return std::nullopt;
    decode_ = decoding_.front();
    for (const Place& place : prefilling_) {
      auto& here = place.site == decode_->site ? local_ : remote_;
      if (here) complain("takes one pool of role 'prefill' at the site of the decode pool, and one elsewhere");
      here = place;
    }
    if (prefilling_.empty()) complain("needs a pool of role 'prefill'");
    if (errors_ > 0) return std::nullopt;
    const auto workload = draw();
    if (!workload) return std::nullopt;
    return analysis(*workload);
  }

 private:
  void complain(const std::string& what) {
    const bool no_pools = scenario_.config.serving.pools.empty();
    diagnostics_.error(no_pools ? scenario::where_of(scenario_.resolved, {"hardware"})
                                : scenario::where_of(scenario_.resolved, {"serving", "pools"}),
                       "the analytic mode " + what);
    ++errors_;
  }

  Place place_of(const scenario::PoolConfig& pool) {
    Place here{&pool, nullptr, "", 0};
    for (const auto& device : scenario_.config.hardware.devices) {
      if (std::ranges::find(pool.devices, device->name) == pool.devices.end()) continue;
      here.device = hardware::as_profile(*device);
      if (!here.device) complain("takes devices of kind 'profile' only, which '" + device->name + "' is not");
      if (here.instances > 0) complain("takes one group of devices in each pool");
      here.instances += static_cast<double>(device->count);
      const auto& groups = scenario_.config.hardware.fabric.groups;
      if (const auto group = groups.find(device->name); group != groups.end()) here.site = group->second.site;
    }
    return here;
  }

  std::optional<Workload> draw() {
    workloads::WorkloadConfig config = scenario_.config.workload;
    config.requests = kDraws;
    config.duration.reset();
    const RandomStreams streams(static_cast<std::uint64_t>(scenario_.config.seed));
    const auto generator =
        workloads::make_generator(config, scenario_.workload_context(), streams.child("workload"), diagnostics_);
    if (!generator) return std::nullopt;
    std::vector<double> drawn;
    double output = 0;
    while (const auto program = generator->next(diagnostics_))
      for (const workloads::Stage& stage : program->stages) {
        if (stage.kind != workloads::Stage::Kind::model_call) continue;
        drawn.push_back(static_cast<double>(tokens_of(stage.prompt)));
        output += static_cast<double>(stage.output_tokens);
      }
    if (drawn.empty()) {
      complain("needs a workload that arrives by a clock or a trace");
      return std::nullopt;
    }
    std::ranges::sort(drawn);
    Workload workload{{}, output / static_cast<double>(drawn.size())};
    const std::size_t kept = std::min(kLengths, drawn.size());
    for (std::size_t i = 0; i < kept; ++i) {  // means of equal shares, so that the mean of all is kept
      const auto from = drawn.begin() + static_cast<std::ptrdiff_t>(i * drawn.size() / kept);
      const auto to = drawn.begin() + static_cast<std::ptrdiff_t>((i + 1) * drawn.size() / kept);
      workload.lengths.push_back(std::accumulate(from, to, 0.0) / static_cast<double>(to - from));
    }
    return workload;
  }

  [[nodiscard]] OffloadLink link() const {
    OffloadLink link{BytesPerSecond(kUnlimited)};
    if (!remote_) return link;
    const auto& sites = scenario_.config.hardware.fabric.sites;
    for (const std::string& name : {remote_->site, decode_->site})
      if (const auto site = sites.find(name); site != sites.end())
        link.shared = std::min(link.shared, *site->second.uplink);
    if (const auto& topology = scenario_.config.hardware.topology) link.planes = topology->planes();
    link.remote = node_of(*remote_);
    link.home = node_of(*decode_);
    return link;
  }
  [[nodiscard]] std::optional<hardware::Node> node_of(const Place& place) const {
    const auto& groups = scenario_.config.hardware.fabric.groups;
    const auto group = groups.find(place.device->name);
    return group == groups.end() ? std::nullopt : std::optional(group->second.node);
  }

  [[nodiscard]] double threshold() const {
    if (!remote_) return kUnlimited;
    if (remote_->pool->accepts.longer_than) return static_cast<double>(*remote_->pool->accepts.longer_than);
    if (local_ && local_->pool->accepts.up_to) return static_cast<double>(*local_->pool->accepts.up_to);
    return 0;
  }

  void warn(const Place& place, double shortest, double longest, std::vector<std::string>& warnings) const {
    const LengthProfile known = place.device->seconds();
    if (known.covers(shortest) && known.covers(longest)) return;
    warnings.push_back(fmt::format(
        "the profile of {} goes from {:g} to {:g} tokens: its prompts, from {:.0f} to {:.0f}, are extrapolated in a "
        "straight line",
        place.device->name, known.shortest(), known.longest(), shortest, longest));
  }

  [[nodiscard]] Analysis analysis(const Workload& workload) const {
    const Place& remote = remote_ ? *remote_ : *local_;  // without any elsewhere, its count of 0 says so
    const Place& local = local_ ? *local_ : *remote_;
    const hardware::ProfiledDecode& decode = decode_->device->decode;
    const auto sequences = static_cast<double>(std::min(decode.sequences, decode_->pool->batcher->max_sequences()));
    Analysis analysis{{workload.lengths,
                       {remote_ ? remote.instances : 0, remote.device->seconds()},
                       {local_ ? local.instances : 0, local.device->seconds()},
                       decode_->instances,
                       sequences / (workload.mean_output * decode.time_per_token.si()),
                       remote.device->kv_bytes(),
                       link()},
                      {},
                      {},
                      remote_.has_value(),
                      {}};
    const OffloadSystem& system = analysis.system;
    analysis.written = {threshold(), static_cast<std::int64_t>(system.local.count),
                        static_cast<std::int64_t>(system.decode_instances), offload_capacity(system, threshold())};
    if (local_) {
      std::vector<double> thresholds{kUnlimited};
      if (remote_) thresholds.clear();
      for (std::size_t i = 0; remote_ && i < kThresholds; ++i)
        thresholds.push_back(workload.lengths[i * workload.lengths.size() / kThresholds]);
      analysis.best = best_offload(system, analysis.written.local + analysis.written.decode, thresholds);
    }
    const double shortest = workload.lengths.front(), longest = workload.lengths.back(), split = threshold();
    if (remote_ && longest > split) warn(remote, std::max(shortest, split), longest, analysis.warnings);
    if (local_ && shortest <= split) warn(local, shortest, std::min(longest, split), analysis.warnings);
    return analysis;
  }

  const scenario::Scenario& scenario_;
  Diagnostics& diagnostics_;
  int errors_ = 0;
  std::vector<Place> prefilling_, decoding_;
  std::optional<Place> remote_, local_, decode_;  // elsewhere; at the site of the decode pool; that pool
};

using Json = nlohmann::ordered_json;

Json plan(const OffloadPlan& plan, const Analysis& analysis) {
  const OffloadCapacity& c = plan.capacity;
  Json json;
  if (analysis.offloads) json["threshold"] = plan.threshold;
  json["offloaded"] = c.offloaded;
  json["remote_instances"] = static_cast<std::int64_t>(analysis.system.remote.count);
  json["local_instances"] = plan.local;
  json["decode_instances"] = plan.decode;
  json["remote_requests_per_s"] = c.remote;
  json["local_requests_per_s"] = c.local;
  json["decode_requests_per_s"] = c.decode;
  json["requests_per_s"] = c.total;
  json["egress_bytes_per_s"] = c.egress.si();
  json["ttft_s"] = {{"mean", c.mean_ttft.si()}, {"p90", c.p90_ttft.si()}};
  return json;
}

}  // namespace

std::optional<Analysis> analyse(const scenario::Scenario& scenario, Diagnostics& diagnostics) {
  return Reader(scenario, diagnostics).read();
}

std::string to_json(const Analysis& analysis) {
  Json json = {{"schema", "analytic/1"}, {"plan", plan(analysis.written, analysis)}};
  if (analysis.best) json["best"] = plan(*analysis.best, analysis);
  json["warnings"] = analysis.warnings;
  return json.dump(2) + '\n';
}

}  // namespace llmscape::run
