// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "base/quantity.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::metrics {

// How the part of a run is chosen that rates, costs, joules, power and busy shares are taken from (docs/metrics.md).
enum class WindowRule {
  steady,      // from the end of the warm-up until the load falls; the whole run where it was never steady
  whole,       // from the end of the warm-up to the last event
  between,     // from one given time to another
  full_batch,  // from the n-th first token to the end of all tasks but n (ML.ENERGY's steady state)
};
std::string_view name_of(WindowRule rule);

struct WindowConfig {
  WindowRule rule = WindowRule::steady;
  std::optional<Seconds> from, to;        // of `between`
  std::optional<std::int64_t> sequences;  // n of `full_batch`
};

// A part of a run: what happens after `from`, up to and including `to`.
struct Span {
  Seconds from, to = serving::kNever;
  [[nodiscard]] bool holds(Seconds at) const { return at > from && at <= to; }
  // The share of [first, last] that lies inside; of a single moment all or nothing.
  [[nodiscard]] double share(Seconds first, Seconds last) const;
};

// Follows a run and finds the edges of its window as they come, in O(1) memory (full_batch: O(n)). Two spans are
// followed: `main`, which the rule asks for, and `rest`, which stands in for it where the run has no such part: from
// the end of the warm-up (a given window: from the start) to the end of the run.
class WindowTracker {
 public:
  // `tasks`: how many will start, where that is known. An edge of `main` is reported in the instant in which it is
  // passed, once; the start of `rest` is that of `main` or the start of the run.
  enum class Edge { from, to };
  using OnEdge = std::function<void(Edge, Seconds)>;
  WindowTracker(const WindowConfig& config, Seconds warmup, std::optional<std::int64_t> tasks, OnEdge on_edge);

  // `waning`: no more load will come as before (workloads::Generator::waning()).
  // next_edge() may have become earlier.
  std::function<void()> on_due = [] {};

  void on_task_start(Seconds at, bool waning);
  void on_task_end(Seconds at, bool waning);
  void on_first_token(Seconds at);
  // When an edge is due whose time is known beforehand; kNever: there is none. pass() reports it.
  [[nodiscard]] Seconds next_edge() const;
  void pass(Seconds now);

  // As far as its edges have been passed; Span::from is kNever before.
  [[nodiscard]] const Span& main() const { return main_; }
  [[nodiscard]] const Span& rest() const { return rest_; }
  // At the end of the run: whether figures come from `main`.
  [[nodiscard]] bool found(Seconds end) const;
  [[nodiscard]] std::int64_t open_tasks() const { return started_ - ended_; }

 private:
  // The system has filled from empty when so many times as many tasks have ended as are open: after three mean times of
  // a task, when 95 % (exponential) of what the start leaves open has gone.
  static constexpr std::int64_t kFills = 2;
  // Fewer ended tasks than these leave the load of the window to chance: 1 / sqrt(20) is 22 %.
  static constexpr std::int64_t kFewestTasks = 20;

  void open_at(Seconds at);
  void close_at(Seconds at);

  WindowConfig config_;
  Seconds warmup_;
  std::optional<std::int64_t> tasks_;
  OnEdge on_edge_;
  Span main_{serving::kNever, serving::kNever}, rest_;
  std::multiset<Seconds> first_tokens_;  // the n earliest ones
  std::int64_t started_ = 0, ended_ = 0;
  std::int64_t ended_inside_ = 0;
  bool filled_ = false;
};

}  // namespace llmscape::metrics
