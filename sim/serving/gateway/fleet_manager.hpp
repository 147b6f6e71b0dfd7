// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "sim/serving/gateway/event_source.hpp"
#include "sim/serving/gateway/fleet_state.hpp"
#include "sim/serving/gateway/waiting_calls.hpp"

namespace llmscape::serving {

// Where each replica stands in its life, and what is outstanding at it. As a source of events: replicas that have
// loaded.
class FleetManager final : public Fleet, public EventSource {
 public:
  // What the rest of the gateway hears of it.
  struct Hooks {
    std::function<void(std::size_t replica, Availability, Seconds)> on_availability;
    // A replica was lost, with the calls that were on it.
    std::function<void(std::size_t replica, const std::vector<Request*>& calls, Seconds)> on_lost;
    std::function<void(Seconds)> on_ready;  // replicas have begun to serve
  };
  // `unplaced`: the calls for which no replica serves; `held`: those that wait for admission.
  FleetManager(FleetState& state, const WaitingCalls& unplaced, const WaitingCalls& held, Hooks hooks)
      : state_(state), unplaced_(unplaced), held_(held), hooks_(std::move(hooks)) {}

  [[nodiscard]] std::size_t pools() const override { return state_.pools.size(); }
  [[nodiscard]] PoolLoad load(std::size_t pool) const override;
  [[nodiscard]] std::size_t replicas() const override { return state_.members.size(); }
  [[nodiscard]] std::size_t pool_of(std::size_t replica) const override { return state_.members[replica].pool; }
  [[nodiscard]] Availability availability(std::size_t replica) const override {
    return state_.members[replica].availability;
  }
  [[nodiscard]] std::int64_t outstanding(std::size_t replica) const override {
    return state_.members[replica].outstanding_requests;
  }
  void start(std::size_t replica, Seconds ready, Seconds now) override;
  void drain(std::size_t replica, Seconds now) override;
  void convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) override;
  void split_by_length(std::size_t shorter, std::size_t longer, std::int64_t tokens, Seconds now) override;
  void cordon(std::size_t replica, bool for_good, Seconds now) override;
  void lose(std::size_t replica, bool for_good, Seconds now) override;
  void repair(std::size_t replica, Seconds takes, Seconds now) override;

  [[nodiscard]] Seconds next_event() override { return loading_.empty() ? kNever : loading_.begin()->first; }
  void run(Seconds now) override;

  // The call becomes outstanding at the replica (+1) or is no longer (-1): the last one of a replica that drains ends
  // that.
  void charge(std::size_t replica, const OpenCall& call, std::int64_t sign, Seconds now);

  // When a replica has been switched on: serving, loading or draining.
  [[nodiscard]] const Provisioned& provisioned(std::size_t replica) const {
    return state_.members[replica].provisioned;
  }
  [[nodiscard]] PoolHistory history(std::size_t pool, Seconds end) const;
  // The run is over at `at`: all that stands until then is planned.
  void settle(Seconds at);
  // Whether a replica has something to do.
  [[nodiscard]] bool works() const;

 private:
  void set_availability(Member& member, Availability availability, Seconds now);
  static void spend(PoolHistory& history, const Member& member, Seconds until);
  static void take_out(Member& member, bool for_good);
  void begin_loading(Member& member, Seconds ready, Seconds now);
  void leave_when_drained(Member& member, Seconds now);
  void on_drained(Member& member, Seconds now);

  FleetState& state_;
  const WaitingCalls &unplaced_, &held_;
  Hooks hooks_;
  std::set<std::pair<Seconds, std::size_t>> loading_;  // replicas by when they are ready
};

}  // namespace llmscape::serving
