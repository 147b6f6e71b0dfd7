// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/kernel/kernel.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/serving/gateway/gateway.hpp"
#include "sim/world/options.hpp"

namespace llmscape::world {

// What replicas report, to the gateway, which is made after them: it acts on the report at that same instant.
class OutcomePort : public serving::OutcomeListener {
 public:
  explicit OutcomePort(kernel::Kernel& kernel) : kernel_(kernel) {}
  // Before the first report.
  void connect(serving::Gateway& gateway, kernel::Process& process) {
    gateway_ = &gateway;
    process_ = &process;
  }
  void ring() { kernel_.ring(*process_); }

  void on_wake(Seconds now) override { gateway_->on_wake(now); }
  void on_outcome(serving::Request& request, serving::Outcome outcome, Seconds at) override {
    gateway_->on_outcome(request, outcome, at);
    ring();
  }
  void on_prompt_start(serving::Request& request, Seconds at) override {
    gateway_->on_prompt_start(request, at);
    ring();
  }
  void on_reserved(serving::Request& request, std::int64_t tokens, Seconds at) override {
    gateway_->on_reserved(request, tokens, at);
    ring();
  }
  [[nodiscard]] Seconds next_message() override { return gateway_->next_message(); }
  [[nodiscard]] Seconds next_report() override { return gateway_->next_report(); }
  [[nodiscard]] std::size_t standing(int replica, std::int64_t left) override {
    return gateway_->standing(replica, left);
  }
  [[nodiscard]] bool settled(Seconds at) const override { return gateway_->settled(at); }

 private:
  kernel::Kernel& kernel_;
  serving::Gateway* gateway_ = nullptr;
  kernel::Process* process_ = nullptr;
};

// What the gateway tells of calls and tasks, to the observer, the watcher and whoever follows the progress. `expected`:
// how many tasks there will be.
class CallRecorder : public serving::RequestListener {
 public:
  CallRecorder(metrics::Observer& observer, const Options& options, std::optional<std::int64_t> expected)
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
  void on_task(const workloads::Program& program, const serving::TaskRun& run, serving::Outcome outcome,
               Seconds at) override {
    observer_.on_task(program, run, outcome, at);
    if (options_.progress && expected_)
      options_.progress(static_cast<double>(++tasks_) / static_cast<double>(*expected_));
  }

 private:
  metrics::Observer& observer_;
  const Options& options_;
  std::optional<std::int64_t> expected_;
  std::int64_t tasks_ = 0;
};

}  // namespace llmscape::world
