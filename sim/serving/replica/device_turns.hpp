// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::serving {

class Replica;

// Devices that replicas of several models take in turns: one runs, the others keep their requests and their KV entries
// and wait. Who waits first is next. The devices pass on when the one that holds them has nothing to do, or has held
// them for `least_hold` and done a step; the next one starts when its weights are there, at once if it is among the
// `resident` models that ran last. When all have been lost the memory is empty: those that run first after that have
// their weights there from their own cold starts, as many as are resident.
class DeviceTurns {
 public:
  DeviceTurns(Seconds least_hold, std::size_t resident);

  // Adds a replica whose weights take `load` to come; `ring` tells that it may have become able to run. The first
  // `resident` ones are there from the beginning.
  void add(Replica& replica, Seconds load, std::function<void()> ring);

  // A request came for the replica at `now`.
  void want(Replica& replica, Seconds now);
  // From when on the replica may run; infinity while it does not hold the devices.
  [[nodiscard]] Seconds runs_from(const Replica& replica) const;
  // Whether it may plan a step at `now`.
  [[nodiscard]] bool may_plan(const Replica& replica, Seconds now) const;
  // It has planned a step.
  void worked() { worked_ = true; }
  // None of its steps runs at `now`; `has_more`: it has requests.
  void rest(Replica& replica, bool has_more, Seconds now);
  // It was lost at `now`, with what it had to do.
  void leave(const Replica& replica, Seconds now);
  // Somebody waits for the devices.
  [[nodiscard]] bool contended() const { return !waiting_.empty(); }

  // How often the replica's weights were loaded, and how long that took: of a load that a fault cut short, until then.
  [[nodiscard]] std::int64_t loads(const Replica& replica) const { return tenants_[index_of(replica)].loads; }
  [[nodiscard]] Seconds loading(const Replica& replica) const;
  [[nodiscard]] const std::vector<const Replica*>& tenants() const { return all_; }

 private:
  struct Tenant {
    Replica* replica;
    Seconds load;
    std::function<void()> ring;
    std::int64_t loads = 0;
    Seconds cut{};      // off its loads, by faults
    bool lost = false;  // and asked for nothing since
  };
  [[nodiscard]] std::size_t index_of(const Replica& replica) const;
  [[nodiscard]] bool holds(const Replica& replica) const { return holder_ && all_[*holder_] == &replica; }
  void pass_on(Seconds now);
  void cut_load(Seconds now);

  Seconds least_hold_;
  std::size_t resident_limit_;
  std::vector<Tenant> tenants_;
  std::vector<const Replica*> all_;
  std::deque<std::size_t> waiting_;
  std::deque<std::size_t> resident_;       // the one that ran last in front
  std::optional<std::size_t> holder_ = 0;  // nobody once all were lost
  Seconds asked_;                          // when the holder's turn came
  Seconds since_;                          // it runs from
  bool worked_ = false;                    // since it holds them
};

}  // namespace llmscape::serving
