// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// INV-1: injected = completed + queued + running + waiting + dropped + timed_out + cancelled + failed at every instant.
// A request is one model call, a task one program; a task has the outcome of the call that went wrong first, if any.
struct Counters {
  std::int64_t injected = 0;
  std::int64_t completed = 0;
  std::int64_t queued = 0;   // requests: in a replica's queue; tasks: none of their calls was made yet
  std::int64_t running = 0;  // requests: in an engine; tasks: a call is open
  std::int64_t waiting = 0;  // requests: held back by the admission limit; tasks: waiting for tools or people
  std::int64_t dropped = 0;
  std::int64_t timed_out = 0;
  std::int64_t cancelled = 0;
  std::int64_t failed = 0;

  [[nodiscard]] std::int64_t accounted() const {
    return completed + queued + running + waiting + dropped + timed_out + cancelled + failed;
  }
  void count(Outcome outcome) {
    switch (outcome) {
      case Outcome::completed: ++completed; break;
      case Outcome::cancelled: ++cancelled; break;
      case Outcome::timed_out: ++timed_out; break;
      case Outcome::dropped: ++dropped; break;
      case Outcome::failed: ++failed; break;
    }
  }
};

}  // namespace llmscape::serving
