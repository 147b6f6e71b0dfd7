// SPDX-License-Identifier: Apache-2.0
#include "sim/run/world.hpp"

#include <algorithm>
#include <stdexcept>

#include "hardware/kv_pool.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/run/assemble.hpp"
#include "sim/run/links.hpp"

namespace llmscape::run {

namespace {

class ReplicaProcess : public kernel::Process {
 public:
  explicit ReplicaProcess(serving::Replica& replica) : replica_(replica) {}
  Seconds next_event() override { return replica_.next_event(); }
  bool wake(Seconds now) override {
    replica_.wake(now);
    return true;
  }

 private:
  serving::Replica& replica_;
};

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

// Slows links down, breaks and mends them.
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

// Passes what the gateway's listener hears on to the watcher too.
class Ears : public serving::RequestListener {
 public:
  Ears(metrics::Observer& observer, const RunOptions& options, std::optional<std::int64_t> expected)
      : observer_(observer), options_(options), expected_(expected) {}
  void on_arrival(const serving::Request& request, std::int64_t open) override { observer_.on_arrival(request, open); }
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override {
    observer_.on_request(request, outcome, at);
    if (options_.watcher) options_.watcher->on_request(request, outcome, at);
  }
  void on_task(const workloads::Program& program, serving::Outcome outcome, Seconds at) override {
    observer_.on_task(program, outcome, at);
    if (options_.progress && expected_)
      options_.progress(static_cast<double>(++tasks_) / static_cast<double>(*expected_));
  }

 private:
  metrics::Observer& observer_;
  const RunOptions& options_;
  std::optional<std::int64_t> expected_;
  std::int64_t tasks_ = 0;
};

class StepEars : public metrics::GapRecorder {
 public:
  StepEars(Seconds warmup, int replica, Watcher* watcher) : GapRecorder(warmup), replica_(replica), watcher_(watcher) {}
  void on_step(Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens, std::int64_t waiting,
               std::int64_t kv_blocks_used) override {
    if (watcher_) watcher_->on_step(replica_, start, end, decodes, prefill_tokens, waiting, kv_blocks_used);
  }

 private:
  int replica_;
  Watcher* watcher_;
};

serving::Acceptance acceptance_of(const AcceptanceConfig& config, const std::vector<std::string>& slo_classes) {
  serving::Acceptance accepts;
  accepts.longer_than = config.longer_than.value_or(accepts.longer_than);
  accepts.up_to = config.up_to.value_or(accepts.up_to);
  for (const std::string& name : config.classes)
    accepts.slo_classes.push_back(static_cast<int>(std::ranges::find(slo_classes, name) - slo_classes.begin()));
  return accepts;
}

}  // namespace

hardware::Device::Settings settings_of(const EngineConfig& engine) {
  hardware::Device::Settings settings;
  settings.cuda_graphs = engine.cuda_graphs;
  settings.max_captured =
      engine.max_cudagraph_capture_size.value_or(std::min<std::int64_t>(512, 2 * engine.batcher->max_sequences()));
  settings.max_batched_tokens = engine.batcher->max_tokens();
  settings.max_sequences = engine.batcher->max_sequences();
  settings.coverage.law = engine.expert_coverage;
  return settings;
}

ReplicaSize replica_size(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device) {
  ReplicaSize size;
  const models::ModelSpec& model = scenario.model_of(engine);
  const hardware::KvPool pool = hardware::kv_pool(device, model, engine.plan(), engine.gpu_memory_utilization,
                                                  engine.batcher->max_tokens(), engine.batcher->max_sequences());
  const double tokens = engine.kv_memory_share * static_cast<double>(pool.tokens);
  size.kv_blocks = engine.kv_blocks.value_or(static_cast<std::int64_t>(tokens) / engine.block_size);
  size.max_model_len = engine.max_model_len.value_or(model.max_position);
  const std::int64_t held = size.kv_blocks * engine.block_size;
  if (held < size.max_model_len) {
    size.warning = "'" + device.name + "' holds " + std::to_string(held) +
                   " tokens of KV, less than the longest sequence allowed (" + std::to_string(size.max_model_len) +
                   "): longer requests are dropped";
  }
  return size;
}

RunResult run_scenario(const Scenario& scenario, const RunOptions& options, Diagnostics& diagnostics) {
  const ScenarioConfig& config = scenario.config;
  const RandomStreams streams(static_cast<std::uint64_t>(config.seed));
  const auto generator =
      workloads::make_generator(config.workload, scenario.workload_context(), streams.child("workload"), diagnostics);
  if (!generator) return {};

  std::vector<metrics::Limits> limits;
  for (const Slo& slo : scenario.slos) limits.push_back({slo.ttft, slo.tpot, slo.e2e});
  metrics::Observer observer(config.workload.warmup, limits);
  Ears ears(observer, options, config.workload.requests);

  const auto kernel =
      options.kernel == KernelKind::simgrid ? kernel::make_simgrid_kernel() : kernel::make_event_queue_kernel();

  // Replicas in the order of the device groups.
  Parts parts{scenario, observer, {}, {}, {}, {}, {}, nullptr};
  std::deque<StepEars> steps;
  std::deque<serving::Replica> replicas;
  std::deque<ReplicaProcess> processes;
  serving::Gateway* gateway_to_be = nullptr;
  struct Forward : serving::OutcomeListener {  // the gateway is made after its replicas
    serving::Gateway** gateway = nullptr;
    kernel::Kernel* kernel = nullptr;
    kernel::Process* process = nullptr;
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

  if (std::ranges::any_of(scenario.pools, [](const PoolConfig& pool) { return pool.pipeline_parallel > 1; }))
    parts.warnings.push_back(
        "pipeline stages work on one batch at a time: latencies hold for a lightly loaded pipeline, throughput is a "
        "lower bound");
  std::vector<serving::Pool> pools;
  std::vector<Seat> seats;
  std::vector<bool> sends, receives;
  for (const PoolConfig& engine : scenario.pools) {
    serving::Pool& pool = pools.emplace_back();
    pool.role = engine.role;
    const models::ModelSpec& model = scenario.model_of(engine);
    pool.router = engine.router->make();
    pool.kv_per_token = Bytes(models::kv_bytes_per_token(model));
    pool.model = scenario.model_index(engine);
    pool.accepts = acceptance_of(engine.accepts, scenario.slo_classes);
    const std::vector<std::int64_t> kv_laws = models::kv_laws(model);
    for (std::size_t group = 0; group < config.hardware.devices.size(); ++group) {
      const auto& device = config.hardware.devices[group];
      if (std::ranges::find(engine.devices, device->name) == engine.devices.end()) continue;
      const ReplicaSize size = replica_size(scenario, engine, *device);
      if (!size.warning.empty()) parts.warnings.push_back(size.warning);
      const std::int64_t devices = engine.plan().devices();
      for (std::int64_t i = 0; i < device->count / devices; ++i) {
        const int index = static_cast<int>(replicas.size());
        StepEars& listener = steps.emplace_back(config.workload.warmup, index, options.watcher);
        serving::ReplicaConfig replica;
        replica.index = index;
        replica.kv_blocks = size.kv_blocks;
        replica.block_tokens = static_cast<int>(engine.block_size);
        replica.pipeline_stages = static_cast<int>(engine.pipeline_parallel);
        replica.max_model_len = size.max_model_len;
        replica.lookahead = options.lookahead;
        auto steps_of_device = device->bind(model, engine.plan(), settings_of(engine));
        if (!options.time_factors.empty())
          steps_of_device = with_factors(std::move(steps_of_device), options.time_factors.at(group));
        replicas.emplace_back(replica, *engine.batcher, std::move(steps_of_device), kv_laws, forward, listener);
        processes.emplace_back(replicas.back());
        pool.replicas.push_back(&replicas.back());
        parts.replicas.push_back(&replicas.back());
        parts.devices.push_back(device.get());
        parts.gaps.push_back(&listener.gaps);
        parts.pools.push_back(pools.size() - 1);
        const auto placed = config.hardware.fabric.groups.find(device->name);
        seats.push_back({placed != config.hardware.fabric.groups.end() ? &placed->second : nullptr, device->name,
                         i * devices, devices});
        sends.push_back(engine.role == serving::Role::prefill);
        receives.push_back(engine.role == serving::Role::decode);
      }
    }
  }
  kernel::Fabric& fabric = kernel->fabric();
  std::optional<LinkProfile> profile;
  if (std::ranges::find(sends, true) != sends.end())
    profile.emplace(fabric, connect(fabric, seats, sends, receives, config.hardware.fabric));

  serving::GatewayConfig gateway_config;
  gateway_config.front_end = {config.serving.front_end.per_call, config.serving.front_end.per_token};
  gateway_config.timeout = config.workload.timeout.value_or(serving::kNever);
  gateway_config.max_outstanding = config.serving.admission.max_outstanding;
  gateway_config.max_waiting = config.serving.admission.max_waiting.value_or(-1);
  gateway_config.retrieval_servers = config.serving.retrieval_servers;
  gateway_config.horizon = config.horizon.value_or(serving::kNever);
  gateway_config.move_by_layer = config.serving.kv_by_layer;
  gateway_config.placement = config.serving.placement;
  gateway_config.retries = config.serving.retries;
  gateway_config.move_kv = [&](std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                               std::function<void(bool, Seconds)> done) {
    fabric.move(from, to, bytes, now, [&, done = std::move(done)](bool arrived, Seconds at) {
      done(arrived, at);
      kernel->ring(*forward.process);
    });
  };
  serving::Gateway gateway(
      gateway_config, *generator, std::move(pools), ears, [&](std::size_t i) { kernel->ring(processes[i]); },
      diagnostics);
  gateway_to_be = &gateway;
  GatewayProcess leader(gateway);
  forward.process = &leader;

  kernel->lead(leader);
  for (ReplicaProcess& process : processes) kernel->add(process);
  if (profile) kernel->add(*profile);
  if (!gateway.done()) kernel->run();
  fabric.check_invariants(leader.now());
  parts.fabric = &fabric;
  return assemble(parts, gateway, leader.now());
}

}  // namespace llmscape::run
