// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "sim/kernel/agenda.hpp"
#include "sim/kernel/simgrid_engine.hpp"
#include "sim/kernel/simgrid_fabric.hpp"

namespace llmscape::kernel {

namespace {

namespace sg = simgrid::s4u;

// Who is due is read from planned times that are kept here, by one actor, the conductor. It sleeps on SimGrid from one
// to the next while bytes are on the way there: nothing else needs that clock, and a sleep costs as much as a step.
class SimGridKernel : public Kernel {
 public:
  SimGridKernel() {
    // run() would return as if all were well: remember that it is not.
    sg::Engine::on_deadlock_cb([this] { fail(std::make_exception_ptr(Deadlock("SimGrid lost the conductor"))); });
    root_ = engine_.get_netzone_root();
    host_ = root_->create_host("llmscape", 1.0)->seal();  // the speed is never used
  }

  void lead(Process& leader) override { agenda_.lead(leader); }
  void add(Process& process) override { agenda_.add(process); }
  void ring(Process& process) override { agenda_.ring(process); }
  Fabric& fabric() override { return fabric_; }

  void run() override {
    sg::NetZone* ends = make_full_zone(root_, "ends");  // routes of its own, beside the zones of topologies
    fabric_.build(ends);
    ends->seal();
    root_->seal();
    start_actor(host_, "conductor", [this] {
      try {
        conduct();
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (...) {
        fail(std::current_exception());
      }
    });
    engine_.run();
    if (error_) std::rethrow_exception(error_);
  }

  [[nodiscard]] std::int64_t events() const override { return agenda_.events(); }

 private:
  void fail(const std::exception_ptr& error) {
    if (!error_) error_ = error;
  }

  void conduct() {
    for (bool goes_on = true; goes_on;) {
      const Seconds now = agenda_.next(fabric_.next_event());
      fabric_.follow(now);
      fabric_.advance(now);
      goes_on = agenda_.round(now);
    }
    fabric_.stop();
  }

  sg::Engine& engine_ = engine_of_process();
  sg::NetZone* root_ = nullptr;
  sg::Host* host_ = nullptr;
  SimGridFabric fabric_;
  Agenda agenda_;
  std::exception_ptr error_;
};

}  // namespace
}  // namespace llmscape::kernel

// Of the module's functions the first (base/module.hpp).
extern "C" llmscape::kernel::Kernel* llmscape_simgrid_kernel() { return new llmscape::kernel::SimGridKernel(); }
