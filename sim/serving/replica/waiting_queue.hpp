// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// Requests in the order in which they may be admitted: by priority, then by arrival. A preempted request arrived before
// all that still wait, so it comes back at the front. Nearly all come at the back and leave at the front.
class WaitingQueue {
 public:
  void push(Request& request) {
    const Entry entry{request.priority, request.id, &request};
    if (queue_.empty() || queue_.back() < entry) queue_.push_back(entry);
    else queue_.insert(place_of(entry), entry);
  }
  void erase(Request& request) {
    if (!queue_.empty() && queue_.front().request == &request) return queue_.pop_front();
    const auto place = place_of({request.priority, request.id, &request});
    if (place != queue_.end() && place->request == &request) queue_.erase(place);
  }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(queue_.size()); }
  [[nodiscard]] Request& front() const { return *queue_.front().request; }
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
  [[nodiscard]] std::deque<Entry>::iterator place_of(const Entry& entry) {
    return std::lower_bound(queue_.begin(), queue_.end(), entry);
  }
  std::deque<Entry> queue_;
};

}  // namespace llmscape::serving
