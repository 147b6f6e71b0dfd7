// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::serving {

// A retrieval index, a tool server: `servers` of them, first come first served, each busy for the given service time. 0
// servers: as many as are asked for.
class Station {
 public:
  explicit Station(std::int64_t servers = 0) : servers_(servers) {}

  // When work that comes at `at` and takes `service` is done. Calls must come in order of `at`.
  Seconds serve(Seconds at, Seconds service) {
    Seconds start = at;
    if (servers_ > 0 && static_cast<std::int64_t>(free_at_.size()) >= servers_) {
      start = std::max(at, free_at_.top());
      free_at_.pop();
    }
    ++served_;
    waited_ += start - at;
    taken_ += service;
    if (servers_ > 0) free_at_.push(start + service);
    return start + service;
  }
  [[nodiscard]] std::int64_t servers() const { return servers_; }
  [[nodiscard]] std::int64_t served() const { return served_; }
  // Time that work has waited for a server, summed.
  [[nodiscard]] Seconds waited() const { return waited_; }
  // Time that servers were busy until `now`, summed; not before the last call. Behind that, a server works without a
  // pause until it is free.
  [[nodiscard]] Seconds busy(Seconds now) const {
    Seconds busy = taken_;
    for (auto later = free_at_; !later.empty(); later.pop()) busy -= std::max(Seconds(), later.top() - now);
    return busy;
  }

 private:
  std::int64_t servers_;
  std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> free_at_;
  std::int64_t served_ = 0;
  Seconds waited_, taken_;
};

}  // namespace llmscape::serving
