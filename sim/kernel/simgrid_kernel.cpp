// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <csignal>
#include <deque>
#include <exception>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/kernel/simgrid_compat.hpp"
#include "sim/kernel/simgrid_fabric.hpp"

namespace llmscape::kernel {

namespace {

namespace sg = simgrid::s4u;

class SimGridKernel : public Kernel {
 public:
  SimGridKernel() {
    for (const char* option : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", kPrecision})
      sg::Engine::set_config(option);
    // run() would return as if all were well: remember that it is not.
    sg::Engine::on_deadlock_cb([this] { fail(std::make_exception_ptr(Deadlock("all processes wait for ever"))); });
    root_ = make_root(engine_);
    host_ = root_->create_host("llmscape", 1.0)->seal();  // the speed is never used
    fabric_ = std::make_unique<SimGridFabric>(host_, [this](const std::exception_ptr& error) { fail(error); });
  }

  void lead(Process& leader) override { spawn(leader, "gateway", true); }
  void add(Process& process) override { spawn(process, "replica", false); }

  // Whom a process rings is woken when it has done what was due: ringing at once would let others act in between.
  void ring(Process& process) override {
    if (acting_) rung_.push_back(&process);
    else wake_up(process);
  }

  Fabric& fabric() override { return *fabric_; }

  void run() override {
    fabric_->build(root_);
    root_->seal();
    engine_.run();
    if (error_) std::rethrow_exception(error_);
  }

  [[nodiscard]] std::int64_t events() const override { return events_; }

 private:
  // Where a process sits in the engine.
  struct Seat {
    sg::SemaphorePtr bell = sg::Semaphore::create(0);
    bool waiting = false;
    Seconds until;
    Seconds last;
  };

  void fail(const std::exception_ptr& error) {
    if (!error_) error_ = error;
  }

  void wake_up(Process& process) {
    Seat& seat = *seats_.at(&process);
    // A sleeper is woken only if it would sleep too long.
    if (!seat.waiting || process.next_event() >= seat.until) return;
    seat.waiting = false;
    seat.bell->release();
  }

  // Sleeps until the process is due; true if it was a bell that ended the sleep.
  static bool wait(Process& process, Seat& seat) {
    bool rung = false;
    for (;;) {
      seat.until = process.next_event();
      const double left = seat.until.si() - sg::Engine::get_clock();
      if (left <= 0) return rung;
      seat.waiting = true;
      if (std::isinf(left)) {
        seat.bell->acquire();
        rung = true;
      } else {
        rung = !seat.bell->acquire_timeout(left);
        // The planned time counts, not the clock, which may stand one ulp before it.
        if (!rung) {
          seat.waiting = false;
          return false;
        }
      }
    }
  }

  void live(Process& process, Seat& seat, bool leads) {
    for (;;) {
      const bool rung = wait(process, seat);
      // The leader acts first at every instant: whoever else was woken by the clock lets it.
      if (!leads && !rung) sg::this_actor::yield();
      const Seconds now = std::min(seat.until, process.next_event());
      if (now < seat.last) throw std::logic_error("INV-2: the clock went back");
      seat.last = now;
      ++events_;
      acting_ = true;
      const bool goes_on = process.wake(now);
      acting_ = false;
      for (Process* other : std::exchange(rung_, {})) wake_up(*other);
      if (!goes_on && leads) return;
    }
  }

  void spawn(Process& process, const std::string& name, bool leads) {
    Seat& seat = *seats_.emplace(&process, std::make_unique<Seat>()).first->second;
    auto actor = start_actor(host_, name, [this, &process, &seat, leads] {
      try {
        live(process, seat, leads);
        return;
      } catch (const simgrid::ForcefulKillException&) {
        throw;
      } catch (...) {
        fail(std::current_exception());
      }
      sg::Actor::kill_all();  // after the handler, never in it
    });
    if (!leads) actor->daemonize();
  }

  std::string name_ = "llmscape", log_ = "--log=root.thresh:critical";
  int argc_ = 2;
  char* argv_[3] = {name_.data(), log_.data(), nullptr};
  sg::Engine engine_{&argc_, argv_};
  sg::NetZone* root_ = nullptr;
  sg::Host* host_ = nullptr;
  std::unique_ptr<SimGridFabric> fabric_;
  std::unordered_map<Process*, std::unique_ptr<Seat>> seats_;
  std::exception_ptr error_;
  bool acting_ = false;
  std::vector<Process*> rung_;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_simgrid_kernel() {
  // SimGrid takes Ctrl-C for itself and would leave with 1: it stays the caller's.
  struct sigaction interrupt = {};
  sigaction(SIGINT, nullptr, &interrupt);
  auto kernel = std::make_unique<SimGridKernel>();
  sigaction(SIGINT, &interrupt, nullptr);
  return kernel;
}

std::string simgrid_version() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace llmscape::kernel
