// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/serving/gateway/gateway.hpp"

// A serving system on a table top: replicas with a made-up cost per step, a list of programs, the bare event queue.
namespace llmscape::testing {

// A step costs what the function says; no host time.
class MadeUpStepModel : public engine::EngineModel {
 public:
  explicit MadeUpStepModel(std::function<double(const models::Batch&)> seconds) : seconds_(std::move(seconds)) {}
  engine::EngineCost step(const models::Batch& batch) override {
    engine::EngineCost cost;
    cost.device = Seconds(seconds_(batch));
    cost.by_family[0] = cost.device;
    return cost;
  }

 private:
  std::function<double(const models::Batch&)> seconds_;
};

// Programs in order of their start.
class ListGenerator : public workloads::Generator {
 public:
  explicit ListGenerator(std::vector<workloads::Program> programs) : programs_(std::move(programs)) {}
  std::optional<workloads::Program> next(Diagnostics&) override { return programs_[next_++]; }
  Seconds next_start() override { return next_ < programs_.size() ? programs_[next_].start : workloads::kNever; }
  void finished(const workloads::Program&, Seconds) override {}
  [[nodiscard]] bool ended() const override { return next_ == programs_.size(); }

 private:
  std::vector<workloads::Program> programs_;
  std::size_t next_ = 0;
};

// A program of one model call.
inline workloads::Program call(double start, Prompt prompt, std::int64_t output, int priority = 0) {
  workloads::Program program;
  program.start = Seconds(start);
  program.priority = priority;
  program.stages.resize(1);
  program.stages[0].prompt = std::move(prompt);
  program.stages[0].output_tokens = output;
  return program;
}

// INV-17: the phases of a completed call sum to its time, those of its first token to the time to that.
inline void check_phases(const serving::Request& request) {
  Seconds first, all;
  for (std::size_t phase = 0; phase < serving::kRequestPhases; ++phase) {
    all += request.clock.spent()[phase];
    if (phase < serving::kPhasesOfFirstToken) first = all;
  }
  const Seconds small = 1e-12 * request.last_token;
  const auto differ = [small](Seconds a, Seconds b) { return a > b + small || b > a + small; };
  if (differ(first, request.ttft()) || differ(all, request.last_token - request.arrival))
    throw std::logic_error("INV-17: the phases of request " + std::to_string(request.id) + " do not add up");
}

struct Answer {
  serving::Request request;  // as it left
  serving::Outcome outcome;
  Seconds at;
};

struct Step {
  int replica;
  Seconds start, end;
  std::int64_t decodes, prefill_tokens, waiting, kv_used;
};

struct SystemConfig {
  std::int64_t kv_blocks = 1000;
  std::vector<std::int64_t> kv_blocks_of;  // the same of each replica; empty: they are alike
  int block_tokens = 16;
  std::int64_t max_model_len = 1 << 20;
  std::int64_t lookahead = 64;
  std::size_t replicas = 1;
  std::vector<serving::Role> roles;                              // of the replicas; empty: they do everything
  std::function<void(std::vector<serving::Pool>&)> shape_pools;  // replicas of one role in a row are a pool
  std::function<std::unique_ptr<serving::Controller>()> controller;
  std::vector<std::function<std::unique_ptr<serving::Controller>()>> more_controllers;
  std::shared_ptr<serving::DeviceTurns> turns;  // all replicas stand on the same devices; fresh for each system
  Seconds load;                                 // of each replica's weights there
  int pipeline_stages = 1;
  std::shared_ptr<serving::Pipeline> pipeline;  // all replicas are streams of it; fresh for each system
  bool chunks_follow = false;
  // What lies below the pool; fresh for each system and replica. None: what leaves HBM is gone.
  std::function<serving::KvBelow(std::size_t replica)> below;
  models::PoolBudget budget{};                 // of KV entries
  std::vector<serving::WindowLayers> windows;  // as ReplicaConfig has them
  models::Sharing sharing = models::Sharing::any_block;
  struct LinkChange {
    double at;
    std::size_t link;  // 2 r out of replica r, 2 r + 1 into it
    double bandwidth;
  };
  std::vector<LinkChange> link_changes;  // in order of time
  double link_bandwidth = 1e9;           // between two replicas, bytes per second, each way of each
  double kv_per_token = 1000;            // bytes
  serving::GatewayConfig gateway;
  std::vector<std::int64_t> kv_laws = {0};
  serving::Speculation speculation;
  serving::AdapterConfig adapters;
  serving::StreamInterval stream;
};

// Runs the programs to their end and keeps everything that can be seen. Invariants are checked at the end.
class System : public serving::RequestListener, public serving::OutcomeListener {
 public:
  System(SystemConfig config, const serving::BatcherPolicy& policy, const serving::RouterPolicy& router,
         std::function<double(const models::Batch&)> seconds)
      : config_(config) {
    for (std::size_t i = 0; i < config.replicas; ++i) {
      routers_.push_back(router.make());
      serving::ReplicaConfig replica;
      replica.index = static_cast<int>(i);
      replica.kv_blocks = config.kv_blocks_of.empty() ? config.kv_blocks : config.kv_blocks_of[i];
      replica.block_tokens = config.block_tokens;
      replica.max_model_len = config.max_model_len;
      replica.lookahead = config.lookahead;
      replica.turns = config.turns.get();
      replica.pipeline_stages = config.pipeline_stages;
      replica.pipeline = config.pipeline.get();
      replica.chunks_follow = config.chunks_follow;
      if (config.below) replica.below = config.below(i);
      replica.budget = config.budget;
      replica.windows = config.windows;
      replica.sharing = config.sharing;
      replica.speculation = config.speculation;
      replica.adapters = config.adapters;
      replica.stream = config.stream;
      listeners_.emplace_back(*this, static_cast<int>(i));
      replicas_.emplace_back(replica, policy, std::make_unique<MadeUpStepModel>(seconds), config.kv_laws, *this,
                             listeners_.back());
      processes_.emplace_back(replicas_.back());
      if (config.turns) config.turns->add(replicas_.back(), config.load, [this, i] { ring(i); });
    }
  }

  void run(workloads::Generator& generator) {
    kernel_ = kernel::make_event_queue_kernel();
    const auto& kernel = kernel_;
    connect(kernel->fabric());
    if (config_.controller) controllers_.push_back(config_.controller());
    for (const auto& make : config_.more_controllers) controllers_.push_back(make());
    for (const auto& controller : controllers_) config_.gateway.controllers.push_back(controller.get());
    gateway_ = std::make_unique<serving::Gateway>(
        config_.gateway, generator, pools(), *this, [this](std::size_t i) { ring(i); }, diagnostics_);
    Leader leader(*gateway_);
    kernel->lead(leader);
    for (auto& process : processes_) kernel->add(process);
    Links links(kernel->fabric(), config_.link_changes);
    if (!config_.roles.empty()) kernel->add(links);
    if (!gateway_->done()) kernel->run();
    end = leader.now;
    gateway_->check_invariants();
    for (auto& replica : replicas_) replica.check_invariants(end);
  }
  void run(std::vector<workloads::Program> programs) {
    ListGenerator generator(std::move(programs));
    run(generator);
  }

  [[nodiscard]] const serving::Replica& replica(std::size_t i = 0) const { return replicas_[i]; }
  [[nodiscard]] const serving::Gateway& gateway() const { return *gateway_; }

  std::vector<Answer> answers;            // in the order in which they came
  std::vector<serving::TaskClock> tasks;  // in the order in which they ended
  std::vector<Step> steps;
  std::vector<std::pair<double, std::int64_t>> gaps;
  Seconds end;
  std::int64_t wakes = 0;  // of replicas
  bool keep_steps = true;
  std::function<void(const serving::Request&, serving::Outcome)> on_answer;  // instead of keeping answers

 private:
  void ring(std::size_t i) { kernel_->ring(processes_[i]); }
  std::vector<serving::Pool> pools() {
    std::vector<serving::Pool> all;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      const serving::Role role = config_.roles.empty() ? serving::Role::any : config_.roles[i];
      if (all.empty() || all.back().role != role)
        all.push_back({role, std::move(routers_[i]), {}, Bytes(config_.kv_per_token)});
      all.back().replicas.push_back(&replicas_[i]);
    }
    if (config_.shape_pools) config_.shape_pools(all);
    return all;
  }
  // A port each way for every replica.
  void connect(kernel::Fabric& fabric) {
    if (config_.roles.empty()) return;
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      fabric.add_endpoint(std::to_string(i));
      fabric.add_link("out " + std::to_string(i), BytesPerSecond(config_.link_bandwidth));
      fabric.add_link("in " + std::to_string(i), BytesPerSecond(config_.link_bandwidth));
    }
    for (std::size_t from = 0; from < replicas_.size(); ++from)
      for (std::size_t to = 0; to < replicas_.size(); ++to)
        if (from != to) fabric.add_route(from, to, {2 * from, 2 * to + 1}, Seconds());
    config_.gateway.move_kv = [&fabric](std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                                        std::function<void(bool, Seconds)> done) {
      const auto transfer = fabric.move(from, to, bytes, now, std::move(done));
      return [&fabric, transfer](Seconds at) { fabric.cancel(transfer, at); };
    };
  }

  struct Listener : serving::StepListener {
    Listener(System& s, int i) : system(s), index(i) {}
    void on_token_gaps(Seconds, Seconds gap, std::int64_t count) override {
      if (system.keep_steps) system.gaps.emplace_back(gap.si(), count);
    }
    void on_step(Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens, std::int64_t waiting,
                 std::int64_t kv) override {
      if (system.keep_steps) system.steps.push_back({index, start, end, decodes, prefill_tokens, waiting, kv});
    }
    [[nodiscard]] bool hears_steps() const override { return system.keep_steps; }
    void on_energy(Seconds, Seconds, Joules) override {}
    System& system;
    int index;
  };
  struct ReplicaProcess : kernel::Process {
    explicit ReplicaProcess(serving::Replica& r) : replica(r) {}
    Seconds next_event() override { return replica.next_event(); }
    bool wake(Seconds now) override {
      replica.wake(now);
      return true;
    }
    serving::Replica& replica;
  };
  struct Links : kernel::Process {
    Links(kernel::Fabric& f, const std::vector<SystemConfig::LinkChange>& c) : fabric(f), changes(c) {}
    Seconds next_event() override { return next < changes.size() ? Seconds(changes[next].at) : serving::kNever; }
    bool wake(Seconds now) override {
      fabric.set_bandwidth(changes[next].link, BytesPerSecond(changes[next].bandwidth), now);
      ++next;
      return true;
    }
    kernel::Fabric& fabric;
    const std::vector<SystemConfig::LinkChange>& changes;
    std::size_t next = 0;
  };
  struct Leader : kernel::Process {
    explicit Leader(serving::Gateway& g) : gateway(g) {}
    Seconds next_event() override { return gateway.next_event(); }
    bool wake(Seconds t) override {
      now = t;
      gateway.wake(t);
      return !gateway.done();
    }
    serving::Gateway& gateway;
    Seconds now;
  };

  void on_arrival(const serving::Request&, std::int64_t) override {}
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override {
    if (outcome == serving::Outcome::completed) check_phases(request);
    if (on_answer) {
      on_answer(request, outcome);
    } else {
      answers.push_back({request, outcome, at});
    }
  }
  void on_task(const workloads::Program&, const serving::TaskRun& run, serving::Outcome, Seconds) override {
    if (keep_steps) tasks.push_back(run.clock);
  }
  void on_wake(Seconds now) override {
    ++wakes;
    gateway_->on_wake(now);
  }
  [[nodiscard]] Seconds next_message() override { return gateway_->next_message(); }
  [[nodiscard]] Seconds next_report() override { return gateway_->next_report(); }
  [[nodiscard]] std::size_t standing(int replica, std::int64_t left) override {
    return gateway_->standing(replica, left);
  }
  [[nodiscard]] bool settled(Seconds at) const override { return !gateway_ || gateway_->settled(at); }
  void on_outcome(serving::Request& request, serving::Outcome outcome, Seconds at) override {
    gateway_->on_outcome(request, outcome, at);
  }
  void on_prompt_start(serving::Request& request, Seconds at) override { gateway_->on_prompt_start(request, at); }
  void on_reserved(serving::Request& request, std::int64_t tokens, Seconds at) override {
    gateway_->on_reserved(request, tokens, at);
  }

  SystemConfig config_;
  std::vector<std::unique_ptr<serving::Router>> routers_;  // one for each replica: enough for any pools
  Diagnostics diagnostics_;
  std::deque<Listener> listeners_;
  std::deque<serving::Replica> replicas_;
  std::deque<ReplicaProcess> processes_;
  std::vector<std::unique_ptr<serving::Controller>> controllers_;
  std::unique_ptr<serving::Gateway> gateway_;
  std::unique_ptr<kernel::Kernel> kernel_;
};

// Does things to the fleet at given times.
class Script : public serving::Controller {
 public:
  struct Act {
    double at;
    std::function<void(serving::Fleet&, Seconds now)> what;
  };
  explicit Script(std::vector<Act> acts) : acts_(std::move(acts)) {}  // in order of time
  [[nodiscard]] Seconds next_event() const override {
    return next_ < acts_.size() ? Seconds(acts_[next_].at) : serving::kNever;
  }
  void act(serving::Fleet& fleet, Seconds now) override { acts_[next_++].what(fleet, now); }
  [[nodiscard]] bool starts(const serving::Fleet&, std::size_t) const override { return next_ < acts_.size(); }

 private:
  std::vector<Act> acts_;
  std::size_t next_ = 0;
};

}  // namespace llmscape::testing
