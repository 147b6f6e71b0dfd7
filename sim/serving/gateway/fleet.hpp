// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/quantity.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// What the replicas of a pool do for a request.
enum class Role {
  any,      // all of it
  prefill,  // its prompt and its first token; then a decode pool goes on
  decode,   // the tokens after the first
};

// Where a replica stands in its life.
enum class Availability : std::uint8_t {
  serving,
  loading,   // starts, or loads weights: serves at a known time
  draining,  // takes nothing new; leaves when it has answered what it has
  off,       // may be started
  down,      // broken or under maintenance: whoever took it away gives it back
  lost       // never comes back
};
inline constexpr std::size_t kAvailabilities = 6;
inline constexpr std::array<std::string_view, kAvailabilities> kAvailabilityNames = {"serving", "loading", "draining",
                                                                                     "off",     "down",    "lost"};

// A pool as those see it who start and stop its replicas.
struct PoolLoad {
  Role role = Role::any;
  std::int64_t serving = 0, loading = 0, draining = 0, off = 0, down = 0;  // replicas
  std::int64_t requests = 0, tokens = 0;                                   // sent to its replicas and not answered
  std::int64_t waiting = 0;  // calls that wait in the gateway because none of its replicas serves
};

// What happened to the replicas of a pool; those of a replica that was converted count where it stood. A drain or a
// loss takes away one that is switched on: a fault of one that is down or off already is none.
struct PoolHistory {
  std::array<Seconds, kAvailabilities> spent{};  // replica-seconds; of one that was off when it broke: as off
  std::int64_t starts = 0, drains = 0, conversions = 0, losses = 0;
  // Switched on: serving, loading, draining or under repair.
  [[nodiscard]] Seconds provisioned() const { return in(Availability::loading) + answering() + in(Availability::down); }
  // Of the time in which replicas were to serve, the share in which they did; 1 if there was none.
  [[nodiscard]] double available() const {
    const Seconds wanted = provisioned() + in(Availability::lost);
    return wanted > Seconds() ? answering() / wanted : 1;
  }

 private:
  [[nodiscard]] Seconds in(Availability availability) const { return spent[static_cast<std::size_t>(availability)]; }
  [[nodiscard]] Seconds answering() const { return in(Availability::serving) + in(Availability::draining); }
};

// The replicas of all pools, numbered over the pools in order, and what can be done to them while they run.
class Fleet {
 public:
  virtual ~Fleet() = default;
  [[nodiscard]] virtual std::size_t pools() const = 0;
  [[nodiscard]] virtual PoolLoad load(std::size_t pool) const = 0;
  [[nodiscard]] virtual std::size_t replicas() const = 0;
  [[nodiscard]] virtual std::size_t pool_of(std::size_t replica) const = 0;
  [[nodiscard]] virtual Availability availability(std::size_t replica) const = 0;
  // Requests sent to it and not answered.
  [[nodiscard]] virtual std::int64_t outstanding(std::size_t replica) const = 0;

  // One that is off serves from `ready` on.
  virtual void start(std::size_t replica, Seconds ready, Seconds now) = 0;
  // One that serves takes nothing new, and is off when it has answered what it has.
  virtual void drain(std::size_t replica, Seconds now) = 0;
  // The same, but then it serves in another pool, after `takes`. The pools' engines are set up alike.
  virtual void convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) = 0;
  // Whatever it does, it takes nothing new; when it has answered what it has, it is down until repair().
  virtual void cordon(std::size_t replica, bool for_good, Seconds now) = 0;
  // The same, but at once: what was on it is lost.
  virtual void lose(std::size_t replica, bool for_good, Seconds now) = 0;
  // Ends one cordon() or lose() that was not for good. After the last one, a replica that was to serve does so after
  // `takes`, or at once if it has not left yet; another one is off.
  virtual void repair(std::size_t replica, Seconds takes, Seconds now) = 0;
  // From now on the one pool takes calls of at most so many prompt tokens that no cache holds, the other longer ones.
  // Calls that were sent stay where they are.
  virtual void split_by_length(std::size_t shorter, std::size_t longer, std::int64_t tokens, Seconds now) = 0;
};

// Starts, stops, converts or loses replicas: autoscalers, fault schedules. Acts behind the outcomes of an instant and
// before what else happens at it.
class Controller {
 public:
  virtual ~Controller() = default;
  // When it acts next; kNever: not before something happens. A controller that acts at intervals keeps no run alive:
  // the run ends when everything is answered.
  [[nodiscard]] virtual Seconds next_event() const = 0;
  virtual void act(Fleet& fleet, Seconds now) = 0;
  // Whether it starts the replica, if it is off or once it is repaired, when calls wait for it. Calls wait for nothing
  // else.
  [[nodiscard]] virtual bool starts(const Fleet&, std::size_t) const { return false; }
  // A call begins to wait because no replica that could go on with it serves: next_event() may become `now`.
  virtual void on_waiting(const Request&, Seconds) {}
  // A call has left the system. `concerns`: the pool was to compute its prompt, or takes calls like it if it was sent
  // nowhere.
  virtual void on_request(const Request&, const std::function<bool(std::size_t pool)>& /*concerns*/, Outcome, Seconds) {
  }
};

}  // namespace llmscape::serving
