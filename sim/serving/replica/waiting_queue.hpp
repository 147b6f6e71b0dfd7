// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <set>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// Requests in the order in which they may be admitted: by priority, then by arrival. A preempted request arrived before
// all that still wait, so it comes back at the front.
class WaitingQueue {
 public:
  void push(Request& request) { queue_.insert({request.priority, request.id, &request}); }
  void erase(Request& request) { queue_.erase({request.priority, request.id, &request}); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(queue_.size()); }
  [[nodiscard]] Request& front() const { return *queue_.begin()->request; }
  // Calls fn for each in order, as long as it returns true.
  template <class Fn>
  void visit(Fn fn) const {
    for (const Entry& entry : queue_)
      if (!fn(*entry.request)) return;
  }

 private:
  struct Entry {
    int priority;
    std::uint64_t id;
    Request* request;
    bool operator<(const Entry& o) const { return priority != o.priority ? priority < o.priority : id < o.id; }
  };
  std::set<Entry> queue_;
};

}  // namespace llmscape::serving
