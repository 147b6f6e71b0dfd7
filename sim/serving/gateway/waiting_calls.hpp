// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <set>
#include <utility>

#include "sim/serving/gateway/call_table.hpp"

namespace llmscape::serving {

// Calls that wait in the gateway, by priority and then by arrival.
class WaitingCalls {
 public:
  void add(OpenCall& call) { calls_.insert(entry(call)); }
  void erase(OpenCall& call) { calls_.erase(entry(call)); }
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(calls_.size()); }
  OpenCall& take_first() { return *calls_.extract(calls_.begin()).value().call; }
  // Calls fn for each in order; fn leaves them where they are.
  template <class Fn>
  void visit(Fn fn) const {
    for (const Entry& entry : calls_) fn(*entry.call);
  }
  // All of them, in order; none waits any more.
  template <class Fn>
  void take_all(Fn fn) {
    for (const Entry& entry : std::exchange(calls_, {})) fn(*entry.call);
  }

 private:
  struct Entry {
    int priority;
    std::uint64_t id;
    OpenCall* call;
    bool operator<(const Entry& o) const { return priority != o.priority ? priority < o.priority : id < o.id; }
  };
  static Entry entry(OpenCall& call) { return {call.request.priority, call.request.id, &call}; }
  std::set<Entry> calls_;
};

}  // namespace llmscape::serving
