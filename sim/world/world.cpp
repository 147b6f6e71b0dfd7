// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.hpp"

#include <algorithm>
#include <utility>

#include "sim/result/energy.hpp"
#include "sim/world/assemble.hpp"
#include "sim/world/controllers.hpp"

namespace llmscape::world {

namespace {

std::vector<metrics::Limits> limits_of(const scenario::Scenario& scenario) {
  std::vector<metrics::Limits> limits;
  for (const scenario::Slo& slo : scenario.slos) limits.push_back({slo.ttft, slo.tpot, slo.e2e});
  return limits;
}

std::vector<metrics::Observer::TimeOfRequest> times_of(const scenario::Scenario& scenario) {
  std::vector<metrics::Observer::TimeOfRequest> times;
  for (const metrics::Metric* metric : metrics_of_requests(scenario)) times.push_back(metric->of_request);
  return times;
}

// Where nothing moves between nodes or replicas nobody reads SimGrid's clock, and it is not started.
std::unique_ptr<kernel::Kernel> make_kernel(KernelKind kind, const scenario::Scenario& scenario) {
  const bool moves =
      scenario.config.hardware.collective_flows.value_or(false) ||
      std::ranges::any_of(scenario.pools, [](const auto& pool) { return pool.role != serving::Role::any; });
  return kind == KernelKind::simgrid && moves ? kernel::make_simgrid_kernel() : kernel::make_event_queue_kernel();
}

}  // namespace

World::World(const scenario::Scenario& scenario, const Options& options, workloads::Generator& generator,
             Diagnostics& diagnostics)
    : scenario_(scenario), options_(options),
      window_(scenario.config.window, scenario.config.workload.warmup, scenario.config.workload.requests,
              [this](metrics::WindowTracker::Edge edge, Seconds at) {
                edges_[static_cast<std::size_t>(edge)] = used_until(at);
              }),
      observer_(scenario.config.workload.warmup, limits_of(scenario), times_of(scenario), window_),
      calls_(observer_, options, scenario.config.workload.requests), kernel_(make_kernel(options.kernel, scenario)),
      outcomes_(*kernel_), engines_(scenario, options, outcomes_, window_, *kernel_),
      controllers_(make_controllers(scenario, RandomStreams(static_cast<std::uint64_t>(scenario.config.seed)))),
      gateway_(
          gateway_config(), generator, engines_.pools(), calls_, [this](std::size_t i) { engines_.ring(i); },
          diagnostics),
      leader_(gateway_), window_edges_(window_) {
  observer_.waning = [&generator] { return generator.waning(); };
  outcomes_.connect(gateway_, leader_);
  window_.on_due = [this] { kernel_->ring(window_edges_); };
  kernel_->lead(leader_);
  connect();
  engines_.start();
  if (link_profile_) kernel_->add(*link_profile_);
  if (window_.next_edge() < serving::kNever || scenario.config.window.rule == metrics::WindowRule::full_batch)
    kernel_->add(window_edges_);
}

// Where KV entries go from replica to replica, and collectives from node to node.
void World::connect() {
  const bool transfers = std::ranges::any_of(engines_.seats(), &Seat::sends);
  if (!transfers && !engines_.exchanges()) return;
  cables_.emplace(kernel_->fabric(), scenario_.config.hardware);
  if (transfers) links_.emplace(kernel_->fabric(), *cables_, engines_.seats());
  engines_.connect(*cables_);
  link_profile_.emplace(kernel_->fabric(), cables_->changes(link_faults(scenario_)));
}

serving::GatewayConfig World::gateway_config() {
  const scenario::ScenarioConfig& config = scenario_.config;
  serving::GatewayConfig gateway;
  gateway.front_end = {config.serving.front_end.per_call, config.serving.front_end.per_token};
  gateway.timeout = config.workload.timeout.value_or(serving::kNever);
  gateway.admission.max_outstanding = config.serving.admission.max_outstanding;
  gateway.admission.max_waiting = config.serving.admission.max_waiting.value_or(-1);
  gateway.retrieval_servers = config.serving.retrieval_servers;
  gateway.retrieval = config.hardware.retrieval;
  gateway.horizon = config.horizon.value_or(serving::kNever);
  gateway.clock_end = kernel::kClockEnd;
  gateway.move_by_layer = config.serving.kv_by_layer;
  gateway.placement = config.serving.placement;
  gateway.streaming_input = config.serving.streaming_input;
  gateway.retries = config.serving.retries;
  for (const auto& controller : controllers_) gateway.controllers.push_back(controller.get());
  gateway.move_kv = [this](std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                           std::function<void(bool, Seconds)> done) {
    return links_->move(from, to, bytes, now, [this, done = std::move(done)](bool arrived, Seconds at) {
      done(arrived, at);
      outcomes_.ring();
    });
  };
  return gateway;
}

result::Edge World::used_until(Seconds at) {
  const serving::SearchHosts* hosts = gateway_.programs().search_hosts();
  return {at, engines_.used_until(at), hosts ? hosts->busy(at) : Seconds()};
}

result::RunResult World::run() {
  if (!gateway_.done()) kernel_->run();
  const Seconds end = leader_.now();
  kernel_->fabric().check_invariants(end);
  engines_.settle(end);
  engines_.check_invariants(end);
  Ended parts{{observer_, scenario_.config.hardware.retrieval, window_, edges_, {}, {}, {}, {}, {}, {}, {}, {}, {}},
              scenario_,
              {}};
  engines_.fill(parts);
  parts.fabric = &kernel_->fabric();
  if (options_.watcher)
    for (const auto& [group, power] : result::power_by_group(parts, gateway_, end))
      options_.watcher->on_power(group, power);
  return assemble(parts, gateway_, end);
}

}  // namespace llmscape::world
