// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "sim/serving/gateway/fleet.hpp"

namespace llmscape::serving {

// What is known of a fleet before it runs. Pools and replicas are numbered as in Fleet.
struct FleetPlan {
  struct Pool {
    std::string name;
    int model = 0;  // index into the scenario's models
    Role role = Role::any;
    std::string engine;   // equal where the replicas of two pools are set up alike
    bool shared = false;  // its replicas take turns at their devices with those of other pools
  };
  struct Replica {
    std::size_t pool = 0;
    std::string group;  // of devices
    std::int64_t first_device = 0, devices = 1;
    std::optional<Seconds> cold_start;  // from off until it serves; absent: not known
  };
  std::vector<Pool> pools;
  std::vector<Replica> replicas;

  // The pool of that name; if there is only one pool, it needs no name. Nothing if there is no such pool.
  [[nodiscard]] std::optional<std::size_t> pool_named(const std::optional<std::string>& name) const;
  [[nodiscard]] std::int64_t replicas_of(std::size_t pool) const;
};

// What of a configuration does not fit the fleet.
struct Problem {
  std::string message;
  std::string hint{};
};

// A controller as configured, immutable; key `policy` of `controllers`.
struct ControllerPolicy {
  virtual ~ControllerPolicy() = default;
  // Where there is one, no other function may be called.
  [[nodiscard]] virtual std::vector<Problem> problems(const FleetPlan& plan) const = 0;
  // Contract: deterministic; never starts, drains or converts a replica that is not in the state for it; once no call
  // arrives any more it must not change the fleet for ever.
  [[nodiscard]] virtual std::unique_ptr<Controller> make(const FleetPlan& plan) const = 0;
  // Whether replicas go from one pool to another.
  [[nodiscard]] virtual bool converts() const { return false; }
  // The pool of which it says how many replicas run, as long as the run lasts; nothing: none.
  [[nodiscard]] virtual std::optional<std::size_t> scales(const FleetPlan&) const { return std::nullopt; }
  // Replicas of the pool, the last ones, that are off when the run begins.
  [[nodiscard]] virtual std::int64_t off_at_first(const FleetPlan&, std::size_t) const { return 0; }
};

// autoscale, convert, balance, drain, threshold.
const Family<ControllerPolicy>& controllers();

// For problems(): the name of a pool is unknown, or was needed.
Problem no_such_pool(const std::optional<std::string>& name, const FleetPlan& plan);
// For problems(): replicas of the pool (all: nothing) or of the group will be started, and how long that takes is not
// known.
std::vector<Problem> unknown_cold_starts(const FleetPlan& plan,
                                         const std::function<bool(const FleetPlan::Replica&)>& of);
// The replica of the pool that serves and has the fewest calls; among equals the last one.
std::optional<std::size_t> least_busy(const Fleet& fleet, std::size_t pool);

}  // namespace llmscape::serving
