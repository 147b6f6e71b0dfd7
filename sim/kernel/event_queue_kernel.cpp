// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/kernel/fluid_fabric.hpp"
#include "sim/kernel/kernel.hpp"

namespace llmscape::kernel {

namespace {

// Asks every process in turn: enough for a test beside SimGrid, linear in the number of processes.
class EventQueueKernel : public Kernel {
 public:
  void lead(Process& leader) override { leader_ = &leader; }
  void add(Process& process) override { processes_.push_back(&process); }
  void ring(Process&) override {}
  Fabric& fabric() override { return fabric_; }
  [[nodiscard]] std::int64_t events() const override { return events_; }

  void run() override {
    for (;;) {
      Seconds next = std::min(leader_->next_event(), fabric_.next_event());
      for (Process* p : processes_) next = std::min(next, p->next_event());
      if (next == Seconds(std::numeric_limits<double>::infinity())) throw Deadlock("all processes wait for ever");
      fabric_.advance(next);
      if (leader_->next_event() <= next) {
        ++events_;
        if (!leader_->wake(next)) return;
      }
      due_.clear();
      for (Process* p : processes_)
        if (p->next_event() <= next) due_.push_back(p);
      for (Process* p : due_) {
        ++events_;
        p->wake(next);
      }
    }
  }

 private:
  FluidFabric fabric_;
  Process* leader_ = nullptr;
  std::vector<Process*> processes_;
  std::vector<Process*> due_;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_event_queue_kernel() { return std::make_unique<EventQueueKernel>(); }

}  // namespace llmscape::kernel
