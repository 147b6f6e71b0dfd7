// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/kernel/simgrid_engine.hpp"
#include "sim/kernel/simgrid_fabric.hpp"

namespace llmscape::kernel {

namespace {

namespace sg = simgrid::s4u;

constexpr Seconds kNobody{std::numeric_limits<double>::infinity()};

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

  void lead(Process& leader) override { leader_ = &leader; }

  void add(Process& process) override {
    places_.emplace(&process, seats_.size());
    seats_.push_back({&process, kNobody, Seconds()});
    plan(seats_.size() - 1);
  }

  // The leader is asked in every round.
  void ring(Process& process) override {
    if (&process != leader_) plan(places_.at(&process));
  }

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

  [[nodiscard]] std::int64_t events() const override { return events_; }

 private:
  struct Seat {
    Process* process;
    Seconds until;  // it is due, as far as is known
    Seconds last;   // it was woken
  };
  struct Due {  // stale once the seat says another time
    Seconds at;
    std::size_t seat;
    bool operator>(const Due& other) const { return std::tie(at, seat) > std::tie(other.at, other.seat); }
  };

  void fail(const std::exception_ptr& error) {
    if (!error_) error_ = error;
  }

  // Notes when the process is due; it is asked again when it is.
  void plan(std::size_t place) {
    Seat& seat = seats_[place];
    const Seconds at = seat.process->next_event();
    if (at >= seat.until) return;
    seat.until = at;
    planned_.push({at, place});
  }

  // When a process is next due; what has been put off meanwhile is noted again.
  Seconds next_process() {
    while (!planned_.empty()) {
      const auto [at, place] = planned_.top();
      if (seats_[place].until == at) {
        if (seats_[place].process->next_event() <= at) return at;
        seats_[place].until = kNobody;
        planned_.pop();
        plan(place);
      } else {
        planned_.pop();
      }
    }
    return kNobody;
  }

  void conduct() {
    while (next_round()) {
    }
    fabric_.stop();
  }

  // All that is due next; false: the leader has ended.
  bool next_round() {
    const Seconds now = std::min({leader_->next_event(), fabric_.next_event(), next_process()});
    if (now == kNobody) throw Deadlock("all processes wait for ever");
    fabric_.follow(now);
    fabric_.advance(now);
    if (leader_->next_event() <= now) {
      check_order(last_, now);
      ++events_;
      if (!leader_->wake(now)) return false;
    }
    due_.clear();
    while (next_process() <= now) {
      const std::size_t place = planned_.top().seat;
      planned_.pop();
      seats_[place].until = kNobody;
      due_.push_back(place);
    }
    for (const std::size_t place : due_) {
      Seat& seat = seats_[place];
      check_order(seat.last, now);
      ++events_;
      seat.process->wake(now);
      plan(place);
    }
    return true;
  }

  static void check_order(Seconds& last, Seconds now) {
    if (now < last) throw std::logic_error("INV-2: the clock went back");
    last = now;
  }

  sg::Engine& engine_ = engine_of_process();
  sg::NetZone* root_ = nullptr;
  sg::Host* host_ = nullptr;
  SimGridFabric fabric_;
  Process* leader_ = nullptr;
  Seconds last_;  // the leader was woken
  std::vector<Seat> seats_;
  std::unordered_map<const Process*, std::size_t> places_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> planned_;
  std::vector<std::size_t> due_;
  std::exception_ptr error_;
  std::int64_t events_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_simgrid_kernel() { return std::make_unique<SimGridKernel>(); }

std::string simgrid_version() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace llmscape::kernel
