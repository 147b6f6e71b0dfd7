// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::metrics {

// Whether a run says something about the system in its steady state.
struct Verdict {
  // `noisy`: what was measured is steady, but too few calls, or they scatter too much, to say what their 99th
  // percentile is; several seeds together may say it.
  enum class State { valid, noisy, unsteady, saturated, truncated };
  State state = State::valid;
  std::vector<std::string> reasons;  // what was found and what to change, one sentence each
};
std::string_view name_of(Verdict::State state);

// Fewer answers than this leave the 99th percentile to one or two requests.
inline constexpr std::int64_t kFewestCompletions = 200;
// Widest 95 % interval of p99 TTFT to each side, relative to it, of a result that is valid.
inline constexpr double kWidestInterval = 0.30;

// The number of open tasks over time, as seen by each task that starts (itself included), thinned evenly to at most 2 x
// kMost points however long the run.
class Backlog {
 public:
  // `lost`: tasks that were dropped, timed out or failed so far.
  void add(Seconds at, std::int64_t open, std::int64_t lost);
  struct Point {
    double at;
    double started;  // tasks so far
    double open, lost;
    [[nodiscard]] double ended() const { return started - open; }
  };
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  static constexpr std::size_t kMost = 512;
  std::vector<Point> points_;
  std::int64_t every_ = 1;
  std::int64_t seen_ = 0;
};

// Times to first tokens by when their calls arrived, thinned evenly in order of completion to at most 2 x kMost.
class WaitSeries {
 public:
  struct Point {
    double arrival, ttft;
  };
  void add(Seconds arrival, double ttft);
  // In order of arrival.
  [[nodiscard]] std::vector<Point> points() const;
  [[nodiscard]] std::int64_t count() const { return seen_; }

 private:
  static constexpr std::size_t kMost = 1024;
  std::vector<Point> points_;
  std::int64_t every_ = 1;
  std::int64_t seen_ = 0;
};

// How tasks come.
enum class Load {
  open,    // whether or not others have ended
  closed,  // as others end
  burst    // all at once
};

struct VerdictInput {
  bool stopped_at_horizon = false;
  bool stands_still = false;    // time does: closed-loop users are refused at once, and ask again at once
  bool clock_ended = false;     // stopped, too, where the clock does not go on
  std::int64_t completed = 0;   // measured calls
  std::int64_t unfinished = 0;  // calls that were open when the run stopped
  Load load = Load::open;
  bool steady = true;                // the run has the window that was asked for
  std::optional<PerSecond> offered;  // tasks per second that the workload states; nothing: those that came
  const Backlog* backlog = nullptr;
  const WaitSeries* waits = nullptr;
  const std::vector<double>* ttft_batch_p99 = nullptr;  // of consecutive batches of requests, in order of completion
};
// The rules, in words, stand beside their thresholds in the source and in docs/metrics.md.
Verdict judge(const VerdictInput& input);

}  // namespace llmscape::metrics
