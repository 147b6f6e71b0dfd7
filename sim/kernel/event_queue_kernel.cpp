// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "sim/kernel/agenda.hpp"
#include "sim/kernel/fluid_fabric.hpp"

namespace llmscape::kernel {

namespace {

class EventQueueKernel : public Kernel {
 public:
  void lead(Process& leader) override { agenda_.lead(leader); }
  void add(Process& process) override { agenda_.add(process); }
  void ring(Process& process) override { agenda_.ring(process); }
  Fabric& fabric() override { return fabric_; }
  [[nodiscard]] std::int64_t events() const override { return agenda_.events(); }

  void run() override {
    for (;;) {
      const Seconds moved = fabric_.next_event(), now = agenda_.next(moved);
      if (moved <= now) fabric_.advance(now);
      if (!agenda_.round(now)) return;
    }
  }

 private:
  FluidFabric fabric_;
  Agenda agenda_;
};

}  // namespace

std::unique_ptr<Kernel> make_event_queue_kernel() { return std::make_unique<EventQueueKernel>(); }

}  // namespace llmscape::kernel
