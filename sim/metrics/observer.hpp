// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/statistics.hpp"
#include "sim/metrics/power_series.hpp"
#include "sim/metrics/task_tokens.hpp"
#include "sim/metrics/verdict.hpp"
#include "sim/metrics/window.hpp"
#include "sim/serving/gateway/gateway.hpp"

namespace llmscape::metrics {

// The limits that make a request good; absent ones are met by everybody.
struct Limits {
  std::optional<Seconds> ttft, tpot, e2e;
  [[nodiscard]] bool any() const { return ttft || tpot || e2e; }
};

// 99th percentiles of consecutive batches of a series, however long it becomes.
class BatchQuantiles {
 public:
  void add(double value);
  // 20 batches of equal size, fewer of kFewest values from a short series.
  [[nodiscard]] std::vector<double> p99() const;

 private:
  static constexpr std::size_t kKept = 20'000;
  static constexpr std::size_t kBatch = 1'000;
  static constexpr std::size_t kFewest = 40;
  std::vector<double> recent_;  // all of a short series; the batch in progress of a long one
  std::vector<double> done_;
};

// What fell into a part of a run. A request that straddles an edge counts by the share of its decoding, from its first
// token to its last, that lies inside, and so do its tokens: they come evenly.
struct WindowSums {
  double requests = 0, good = 0;                // completed; and within their SLO
  double prompt_tokens = 0, output_tokens = 0;  // of these requests
  double emitted_tokens = 0;                    // of all requests, answered again by another replica or not
  std::int64_t arrivals = 0;                    // calls
};

// The same of each part of a run that figures are taken from.
struct PartSums {
  WindowSums window, rest, all;  // rest: WindowTracker::rest()
};

// Of the requests of one class: as of all of them.
struct ClassSums {
  PartSums sums;
  std::vector<Distribution> times;  // measured
  std::int64_t ended = 0, completed = 0, good = 0;
};

// Of requests and tasks that are measured: those that arrived, or started, at `warmup` or later.
struct MeasuredSums {
  std::int64_t completed = 0;
  std::int64_t ended = 0;  // completed, dropped, timed out and failed: what attainment is a share of
  std::int64_t good = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0;  // of completed requests
  std::int64_t tasks = 0;                             // completed
  // INV-17: summed over completed requests, and over completed tasks.
  std::array<Seconds, serving::kRequestPhases> request_phases{};
  std::array<Seconds, serving::kTaskPhases> task_phases{};
  Seconds task_time;
};

// What the users of the system saw. Latencies are of completed requests that arrived at `warmup` or later.
class Observer : public serving::RequestListener {
 public:
  // A time of a measured completed request, if it has one.
  using TimeOfRequest = std::optional<Seconds> (*)(const serving::Request&);

  // `times` are kept as distributions. `window` hears of tasks from here.
  Observer(Seconds warmup, std::vector<Limits> limits_by_class, std::vector<TimeOfRequest> times,
           WindowTracker& window);

  void on_arrival(const serving::Request& request, std::int64_t open) override;
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override;
  void on_task_start(const workloads::Program& program, Seconds at) override;
  void on_task(const workloads::Program& program, const serving::TaskRun& run, serving::Outcome outcome,
               Seconds at) override;
  // Whether the load has begun to fall for good: workloads::Generator::waning().
  std::function<bool()> waning = [] { return false; };
  // Adds the tokens of a request that is open at the end of the run: `emitted`, and those of lost replicas.
  static void add_open(const serving::Request& request, std::int64_t emitted, Seconds end, const Span& span,
                       WindowSums& sums);

  std::vector<Distribution> times;  // seconds, in the order of the constructor's
  Distribution task;                // of completed tasks, start to end, in seconds
  TaskTokens task_tokens;           // of the same
  BatchQuantiles ttft_batches;
  Backlog backlog;
  WaitSeries waits;
  PartSums sums;
  std::vector<ClassSums> classes;  // in the order of the limits; none where all requests are of one class
  std::array<std::int64_t, serving::kReasons> reasons{};  // of requests that were dropped or failed
  MeasuredSums measured;
  // INV-5, over all requests.
  std::int64_t prompt_tokens = 0, recomputed_tokens = 0, invalidated_tokens = 0, discarded_tokens = 0;
  std::int64_t emitted_tokens = 0;
  Seconds last_end;

 private:
  [[nodiscard]] bool good(const serving::Request& request) const;
  void count_arrival(const serving::Request& request, PartSums& to) const;
  void add(const serving::Request& request, serving::Outcome outcome, Seconds at, const Span& span,
           WindowSums& to) const;
  void add(const serving::Request& request, serving::Outcome outcome, Seconds at, PartSums& to) const;
  void add_times(const serving::Request& request, std::vector<Distribution>& to) const;

  Seconds warmup_;
  std::vector<Limits> limits_;
  std::vector<TimeOfRequest> times_of_;
  std::int64_t lost_tasks_ = 0;  // dropped, timed out or failed
  WindowTracker& window_;
};

// The gaps between tokens that one replica emitted after the warm-up. What does not depend on the order in which
// replicas are heard is kept with others: the values of these gaps with all, the power of its steps with those of its
// group.
class StepRecorder : public serving::StepListener {
 public:
  // `drafting`: of users' devices that make drafts; nullptr: there are none.
  StepRecorder(Seconds warmup, WindowTracker& window, Values& gap_values, PowerSeries& power,
               PowerSeries* drafting = nullptr)
      : warmup_(warmup), window_(window), gap_values_(gap_values), power_(power), drafting_(drafting) {}
  void on_token_gaps(Seconds at, Seconds gap, std::int64_t count) override {
    if (at < warmup_ || count == 0) return;
    gaps.add(gap.si(), count);
    gap_values_.add(gap.si(), count);
  }
  void on_step(Seconds, Seconds, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override {}
  [[nodiscard]] bool hears_steps() const override { return false; }
  void on_energy(Seconds start, Seconds end, Joules energy) override { power_.add(start, end, energy); }
  void on_drafting(Seconds start, Seconds end, Joules energy) override {
    if (drafting_) drafting_->add(start, end, energy);
  }
  void on_first_token(Seconds at) override { window_.on_first_token(at); }

  Moments gaps;  // seconds

 private:
  Seconds warmup_;
  WindowTracker& window_;
  Values& gap_values_;
  PowerSeries& power_;
  PowerSeries* drafting_;
};

}  // namespace llmscape::metrics
