// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/kernel/kernel.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/result/energy.hpp"
#include "sim/world/assemble.hpp"
#include "sim/world/controllers.hpp"
#include "sim/world/engines.hpp"
#include "sim/world/links.hpp"

namespace llmscape::world {

namespace {

class GatewayProcess : public kernel::Process {
 public:
  explicit GatewayProcess(serving::Gateway& gateway) : gateway_(gateway) {}
  Seconds next_event() override { return gateway_.next_event(); }
  bool wake(Seconds now) override {
    now_ = now;
    gateway_.wake(now);
    return !gateway_.done();
  }
  [[nodiscard]] Seconds now() const { return now_; }

 private:
  serving::Gateway& gateway_;
  Seconds now_;
};

// Slows links down, breaks and repairs them.
class LinkProfile : public kernel::Process {
 public:
  LinkProfile(kernel::Fabric& fabric, std::vector<LinkChange> changes)
      : fabric_(fabric), changes_(std::move(changes)) {}
  Seconds next_event() override { return next_ < changes_.size() ? changes_[next_].at : serving::kNever; }
  bool wake(Seconds now) override {
    for (; next_ < changes_.size() && changes_[next_].at <= now; ++next_)
      fabric_.set_bandwidth(changes_[next_].link, changes_[next_].bandwidth, now);
    return true;
  }

 private:
  kernel::Fabric& fabric_;
  std::vector<LinkChange> changes_;
  std::size_t next_ = 0;
};

// Passes edges of the window whose time is known beforehand.
class WindowEdges : public kernel::Process {
 public:
  explicit WindowEdges(metrics::WindowTracker& window) : window_(window) {}
  Seconds next_event() override { return window_.next_edge(); }
  bool wake(Seconds now) override {
    window_.pass(now);
    return true;
  }

 private:
  metrics::WindowTracker& window_;
};

// Passes what the gateway's listener hears on to the watcher too.
class Ears : public serving::RequestListener {
 public:
  Ears(metrics::Observer& observer, const Options& options, std::optional<std::int64_t> expected)
      : observer_(observer), options_(options), expected_(expected) {}
  void on_arrival(const serving::Request& request, std::int64_t open) override { observer_.on_arrival(request, open); }
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override {
    observer_.on_request(request, outcome, at);
    if (options_.watcher) options_.watcher->on_request(request, outcome, at);
  }
  void on_availability(std::size_t replica, serving::Availability availability, Seconds at) override {
    if (options_.watcher) options_.watcher->on_availability(static_cast<int>(replica), availability, at);
  }
  void on_task_start(const workloads::Program& program, Seconds at) override { observer_.on_task_start(program, at); }
  void on_task(const workloads::Program& program, const serving::TaskClock& clock, serving::Outcome outcome,
               Seconds at) override {
    observer_.on_task(program, clock, outcome, at);
    if (options_.progress && expected_)
      options_.progress(static_cast<double>(++tasks_) / static_cast<double>(*expected_));
  }

 private:
  metrics::Observer& observer_;
  const Options& options_;
  std::optional<std::int64_t> expected_;
  std::int64_t tasks_ = 0;
};

}  // namespace

result::RunResult run_scenario(const scenario::Scenario& scenario, const Options& options, Diagnostics& diagnostics) {
  const scenario::ScenarioConfig& config = scenario.config;
  const RandomStreams streams(static_cast<std::uint64_t>(config.seed));
  const auto generator =
      workloads::make_generator(config.workload, scenario.workload_context(), streams.child("workload"), diagnostics);
  if (!generator) return {};

  std::vector<metrics::Limits> limits;
  for (const scenario::Slo& slo : scenario.slos) limits.push_back({slo.ttft, slo.tpot, slo.e2e});
  result::Edges edges;
  std::function<result::Edge(Seconds)> edge_at;
  metrics::WindowTracker window(
      config.window, config.workload.warmup, config.workload.requests,
      [&](metrics::WindowTracker::Edge edge, Seconds at) { edges[static_cast<std::size_t>(edge)] = edge_at(at); });
  std::vector<metrics::Observer::TimeOfRequest> times;
  for (const metrics::Metric* metric : metrics_of_requests(scenario)) times.push_back(metric->of_request);
  metrics::Observer observer(config.workload.warmup, limits, std::move(times), window);
  observer.waning = [&generator] { return generator->waning(); };
  Ears ears(observer, options, config.workload.requests);

  const auto kernel =
      options.kernel == KernelKind::simgrid ? kernel::make_simgrid_kernel() : kernel::make_event_queue_kernel();

  Ended parts{{observer, config.hardware.retrieval, window, edges, {}, {}, {}, {}, {}, {}, {}, {}}, scenario, {}};
  serving::Gateway* gateway_to_be = nullptr;
  struct Forward : serving::OutcomeListener {  // the gateway is made after its replicas
    serving::Gateway** gateway = nullptr;
    kernel::Kernel* kernel = nullptr;
    kernel::Process* process = nullptr;
    void on_wake(Seconds now) override { (*gateway)->on_wake(now); }
    void on_outcome(serving::Request& request, serving::Outcome outcome, Seconds at) override {
      (*gateway)->on_outcome(request, outcome, at);
      kernel->ring(*process);
    }
    void on_prompt_start(serving::Request& request, Seconds at) override {
      (*gateway)->on_prompt_start(request, at);
      kernel->ring(*process);
    }
    void on_reserved(serving::Request& request, std::int64_t tokens, Seconds at) override {
      (*gateway)->on_reserved(request, tokens, at);
      kernel->ring(*process);
    }
  } forward;
  forward.gateway = &gateway_to_be;
  forward.kernel = kernel.get();

  Engines engines(scenario, options, forward, window, *kernel);
  kernel::Fabric& fabric = kernel->fabric();
  std::optional<LinkProfile> profile;
  if (std::ranges::any_of(engines.seats(), &Seat::sends))
    profile.emplace(fabric, connect(fabric, engines.seats(), config.hardware.fabric, link_faults(scenario)));

  serving::GatewayConfig gateway_config;
  gateway_config.front_end = {config.serving.front_end.per_call, config.serving.front_end.per_token};
  gateway_config.timeout = config.workload.timeout.value_or(serving::kNever);
  gateway_config.admission.max_outstanding = config.serving.admission.max_outstanding;
  gateway_config.admission.max_waiting = config.serving.admission.max_waiting.value_or(-1);
  gateway_config.retrieval_servers = config.serving.retrieval_servers;
  gateway_config.retrieval = config.hardware.retrieval;
  gateway_config.horizon = config.horizon.value_or(serving::kNever);
  gateway_config.move_by_layer = config.serving.kv_by_layer;
  gateway_config.placement = config.serving.placement;
  gateway_config.streaming_input = config.serving.streaming_input;
  gateway_config.retries = config.serving.retries;
  const auto controllers = make_controllers(scenario, streams);
  for (const auto& controller : controllers) gateway_config.controllers.push_back(controller.get());
  gateway_config.move_kv = [&](std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                               std::function<void(bool, Seconds)> done) {
    fabric.move(from, to, bytes, now, [&, done = std::move(done)](bool arrived, Seconds at) {
      done(arrived, at);
      kernel->ring(*forward.process);
    });
  };
  serving::Gateway gateway(
      gateway_config, *generator, engines.pools(), ears, [&](std::size_t i) { engines.ring(i); }, diagnostics);
  gateway_to_be = &gateway;
  GatewayProcess leader(gateway);
  forward.process = &leader;

  edge_at = [&](Seconds at) {
    const serving::SearchHosts* hosts = gateway.programs().search_hosts();
    return result::Edge{at, engines.used_until(at), hosts ? hosts->busy(at) : Seconds()};
  };
  WindowEdges window_edges(window);
  window.on_due = [&] { kernel->ring(window_edges); };

  kernel->lead(leader);
  engines.start();
  if (profile) kernel->add(*profile);
  if (window.next_edge() < serving::kNever || config.window.rule == metrics::WindowRule::full_batch)
    kernel->add(window_edges);
  if (!gateway.done()) kernel->run();
  fabric.check_invariants(leader.now());
  engines.settle(leader.now());
  engines.check_invariants(leader.now());
  engines.fill(parts);
  parts.fabric = &fabric;
  if (options.watcher)
    for (const auto& [group, power] : result::power_by_group(parts, gateway, leader.now()))
      options.watcher->on_power(group, power);
  return assemble(parts, gateway, leader.now());
}

}  // namespace llmscape::world
