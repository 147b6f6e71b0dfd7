// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/observer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/rounding.hpp"

namespace llmscape::metrics {

using serving::Outcome;
using serving::Request;

namespace {

double p99_of(std::vector<double>::const_iterator from, std::vector<double>::const_iterator to) {
  std::vector<double> batch(from, to);
  const std::size_t rank = (99 * batch.size() + 99) / 100 - 1;  // nearest, from 0: the 99th of 100
  std::nth_element(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(rank), batch.end());
  return batch[rank];
}

void check_order(const Request& r) {
  if (r.arrival <= r.context_complete && r.context_complete <= r.first_token && r.arrival <= r.enqueue &&
      r.enqueue <= r.schedule && r.schedule <= r.first_token && r.first_token <= r.seen.first &&
      r.seen.first <= r.last_token)
    return;
  throw std::logic_error("INV-3: the times of request " + std::to_string(r.id) + " are out of order");
}

// Of the tokens of a call that one who looks at `at` sees, those in the span: `emitted` of them, and before these what
// was lost and came again.
double tokens_in(const Span& span, const Request& request, std::int64_t emitted, Seconds at) {
  double tokens = 0;
  if (emitted > 0) tokens = static_cast<double>(emitted) * span.share(request.answered_from(at), at);
  if (request.lost > 0)
    tokens += static_cast<double>(request.lost) * span.share(request.lost_from(at), std::min(request.first_token, at));
  return tokens;
}

}  // namespace

void BatchQuantiles::add(double value) {
  recent_.push_back(value);
  const bool long_series = !done_.empty();
  if (recent_.size() < (long_series ? kBatch : kKept)) return;
  for (std::size_t i = 0; i < recent_.size(); i += kBatch)
    done_.push_back(p99_of(recent_.begin() + static_cast<std::ptrdiff_t>(i),
                           recent_.begin() + static_cast<std::ptrdiff_t>(i + kBatch)));
  recent_.clear();
}

std::vector<double> BatchQuantiles::p99() const {
  if (!done_.empty()) return done_;
  std::vector<double> result;
  const std::size_t batch = std::max(kFewest, recent_.size() / 20);
  for (std::size_t i = 0; i + batch <= recent_.size(); i += batch)
    result.push_back(p99_of(recent_.begin() + static_cast<std::ptrdiff_t>(i),
                            recent_.begin() + static_cast<std::ptrdiff_t>(i + batch)));
  return result;
}

Observer::Observer(Seconds warmup, std::vector<Limits> limits_by_class, std::vector<TimeOfRequest> times_of,
                   WindowTracker& window)
    : times(times_of.size()), warmup_(warmup), limits_(std::move(limits_by_class)), times_of_(std::move(times_of)),
      window_(window) {
  if (limits_.size() > 1) classes.assign(limits_.size(), {{}, std::vector<Distribution>(times.size())});
}

void Observer::count_arrival(const Request& request, PartSums& to) const {
  ++to.all.arrivals;
  if (window_.main().holds(request.arrival)) ++to.window.arrivals;
  if (window_.rest().holds(request.arrival)) ++to.rest.arrivals;
}

void Observer::on_arrival(const Request& request, std::int64_t) {
  count_arrival(request, sums);
  if (!classes.empty()) count_arrival(request, classes[static_cast<std::size_t>(request.slo_class)].sums);
}

void Observer::on_task_start(const workloads::Program&, Seconds at) {
  window_.on_task_start(at, waning());
  backlog.add(at, window_.open_tasks(), lost_tasks_);
}

void Observer::add_open(const Request& request, std::int64_t emitted, Seconds end, const Span& span, WindowSums& sums) {
  sums.emitted_tokens += tokens_in(span, request, emitted, end);
}

void Observer::add(const Request& request, Outcome outcome, Seconds at, const Span& span, WindowSums& to) const {
  to.emitted_tokens += tokens_in(span, request, request.emitted, at);
  if (outcome != Outcome::completed) return;
  const double share = span.share(request.first_token, request.last_token);
  if (share == 0) return;
  to.requests += share;
  to.prompt_tokens += share * static_cast<double>(request.prompt_tokens);
  to.output_tokens += share * static_cast<double>(request.output_tokens);
  if (good(request)) to.good += share;
}

void Observer::add(const Request& request, Outcome outcome, Seconds at, PartSums& to) const {
  add(request, outcome, at, window_.main(), to.window);
  add(request, outcome, at, window_.rest(), to.rest);
  add(request, outcome, at, Span{}, to.all);
}

void Observer::add_times(const Request& request, std::vector<Distribution>& to) const {
  for (std::size_t i = 0; i < to.size(); ++i)
    if (const auto time = times_of_[i](request)) to[i].add(time->si());
}

bool Observer::good(const Request& request) const {
  const Limits& limits = limits_[static_cast<std::size_t>(request.slo_class)];
  // Times are differences of instants: one that meets its limit exactly is off by rounding, either way.
  const auto meets = [](Seconds time, const std::optional<Seconds>& limit) {
    return !limit || at_most(time.si(), limit->si());
  };
  return meets(request.ttft(), limits.ttft) && meets(request.tpot().value_or(Seconds()), limits.tpot) &&
         meets(request.e2e(), limits.e2e);
}

void Observer::on_request(const Request& request, Outcome outcome, Seconds at) {
  last_end = std::max(last_end, at);
  emitted_tokens += request.emitted + request.lost;
  const std::int64_t work = request.prefilled + request.reused - request.invalidated;
  invalidated_tokens += request.invalidated;
  const bool counts = request.arrival >= warmup_;
  if (counts && outcome != Outcome::cancelled) ++measured.ended;
  if (request.reason != serving::Reason::none) ++reasons[static_cast<std::size_t>(request.reason)];
  add(request, outcome, at, sums);
  ClassSums* own = classes.empty() ? nullptr : &classes[static_cast<std::size_t>(request.slo_class)];
  if (own) {
    add(request, outcome, at, own->sums);
    if (counts && outcome != Outcome::cancelled) ++own->ended;
  }
  if (outcome != Outcome::completed) {
    discarded_tokens += work;
    return;
  }
  check_order(request);
  prompt_tokens += request.prompt_tokens;
  recomputed_tokens += work - request.prompt_tokens;
  if (!counts) return;
  ++measured.completed;
  measured.prompt_tokens += request.prompt_tokens;
  measured.output_tokens += request.output_tokens;
  const bool is_good = good(request);
  if (is_good) ++measured.good;
  for (std::size_t i = 0; i < measured.request_phases.size(); ++i)
    measured.request_phases[i] += request.clock.spent()[i];
  add_times(request, times);
  if (own) {
    ++own->completed;
    if (is_good) ++own->good;
    add_times(request, own->times);
  }
  const double first = request.ttft().si();
  if (request.arrival >= window_.main().from) ttft_batches.add(first);
  waits.add(request.arrival, first);
}

void Observer::on_task(const workloads::Program& program, const serving::TaskRun& run, Outcome outcome, Seconds at) {
  last_end = std::max(last_end, at);
  window_.on_task_end(at, waning());
  if (outcome != Outcome::completed && outcome != Outcome::cancelled) ++lost_tasks_;
  if (outcome != Outcome::completed || program.start < warmup_) return;
  ++measured.tasks;
  measured.task_time += at - program.start;
  task.add((at - program.start).si());
  task_tokens.add(program, run.computed);
  for (std::size_t i = 0; i < measured.task_phases.size(); ++i) measured.task_phases[i] += run.clock.spent()[i];
}

}  // namespace llmscape::metrics
