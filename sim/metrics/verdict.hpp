// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::metrics {

// Whether a run says something about the system in its steady state.
struct Verdict {
  enum class State { valid, unsteady, saturated, truncated };
  State state = State::valid;
  std::vector<std::string> reasons;  // what was found and what to change, one sentence each
};
std::string_view name_of(Verdict::State state);

// The number of unanswered calls over time, thinned evenly to at most 2 x kMost points however long the run.
class Backlog {
 public:
  void add(Seconds at, std::int64_t open);
  struct Point {
    double at;
    double open;
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  static constexpr std::size_t kMost = 512;
  std::vector<Point> points_;
  std::int64_t every_ = 1;
  std::int64_t seen_ = 0;
};

struct VerdictInput {
  bool stopped_at_horizon = false;
  std::int64_t completed = 0;   // in the measured window
  std::int64_t unfinished = 0;  // calls that were open when the run stopped
  Seconds warmup;
  Seconds last_arrival;
  const Backlog* backlog = nullptr;
  const std::vector<double>* ttft_batch_p99 = nullptr;  // of consecutive batches of requests, in order of completion
};
// The rules, in words, stand beside their thresholds in the source and in docs/metrics.md.
Verdict judge(const VerdictInput& input);

}  // namespace llmscape::metrics
