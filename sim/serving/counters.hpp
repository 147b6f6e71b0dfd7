// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace llmscape::serving {

// INV-1: injected = completed + queued + running + waiting + dropped + timed_out + cancelled + failed at every instant. A
// request is one model call, a task one program; a task has the outcome of the call that ended it early, if any.
struct Counters {
  std::int64_t injected = 0;
  std::int64_t completed = 0;
  std::int64_t queued = 0;   // requests: in a replica's queue; tasks: none of their calls has run yet
  std::int64_t running = 0;  // requests: in an engine; tasks: under way
  std::int64_t waiting = 0;  // requests: held back by the admission limit; tasks: only waiting for tools or people
  std::int64_t dropped = 0;
  std::int64_t timed_out = 0;
  std::int64_t cancelled = 0;
  std::int64_t failed = 0;
  [[nodiscard]] std::int64_t accounted() const {
    return completed + queued + running + waiting + dropped + timed_out + cancelled + failed;
  }
};

}  // namespace llmscape::serving
