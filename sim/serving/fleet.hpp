// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

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
  lost       // never comes back
};

// A pool as those see it who start and stop its replicas.
struct PoolLoad {
  Role role = Role::any;
  std::int64_t serving = 0, loading = 0, draining = 0, off = 0;  // replicas
  std::int64_t requests = 0, tokens = 0;                         // sent to its replicas and not answered
  std::int64_t waiting = 0;  // calls that wait in the gateway because none of its replicas serves
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
  // One is lost at once, with all that was on it; it can be started again unless `for_good`.
  virtual void lose(std::size_t replica, bool for_good, Seconds now) = 0;
};

// Starts, stops, converts or loses replicas: autoscalers, fault schedules. Acts before what else happens at an instant.
class Controller {
 public:
  virtual ~Controller() = default;
  // When it acts next; kNever: not before a request ends. A controller that acts at intervals keeps no run alive: the
  // run ends when everything is answered.
  [[nodiscard]] virtual Seconds next_event() const = 0;
  virtual void act(Fleet& fleet, Seconds now) = 0;
  // A call has left the system.
  virtual void on_request(const Request&, Outcome, Seconds) {}
};

}  // namespace llmscape::serving
