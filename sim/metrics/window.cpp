// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/window.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmscape::metrics {

using serving::kNever;

std::string_view name_of(WindowRule rule) {
  static constexpr std::array<std::string_view, 4> kNames = {"steady", "whole", "between", "full_batch"};
  return kNames[static_cast<std::size_t>(rule)];
}

double Span::share(Seconds first, Seconds last) const {
  if (first >= last) return holds(last) ? 1 : 0;
  if (first >= from && last <= to) return 1;
  const Seconds inside = std::min(last, to) - std::max(first, from);
  return inside > Seconds() ? inside / (last - first) : 0;
}

WindowTracker::WindowTracker(const WindowConfig& config, Seconds warmup, std::optional<std::int64_t> tasks,
                             OnEdge on_edge)
    : config_(config), warmup_(warmup), tasks_(tasks), on_edge_(std::move(on_edge)) {
  if (config_.rule == WindowRule::steady || config_.rule == WindowRule::whole) rest_.from = warmup_;
  if (config_.rule == WindowRule::whole && warmup_ == Seconds()) main_ = rest_;
  if (config_.rule == WindowRule::between && config_.from.value_or(warmup_) == Seconds()) main_.from = Seconds();
}

void WindowTracker::open_at(Seconds at) {
  if (main_.from < kNever) return;
  main_.from = at;
  on_edge_(Edge::from, at);
}

void WindowTracker::close_at(Seconds at) {
  if (main_.to < kNever) return;
  main_.to = at;
  on_edge_(Edge::to, at);
}

void WindowTracker::on_task_start(Seconds at, bool waning) {
  ++started_;
  if (config_.rule == WindowRule::steady && waning) close_at(at);
}

void WindowTracker::on_task_end(Seconds at, bool waning) {
  ++ended_;
  if (main_.holds(at)) ++ended_inside_;
  if (main_.to == kNever && ended_ >= kFills * open_tasks()) filled_ = true;
  if (config_.rule == WindowRule::steady) {
    if (filled_ && warmup_ == Seconds()) open_at(at);
    if (waning) close_at(at);
  }
  if (config_.rule == WindowRule::full_batch && tasks_ && ended_ + *config_.sequences == *tasks_) close_at(at);
}

void WindowTracker::on_first_token(Seconds at) {
  if (config_.rule != WindowRule::full_batch || main_.from < kNever) return;
  first_tokens_.insert(at);
  if (static_cast<std::int64_t>(first_tokens_.size()) > *config_.sequences)
    first_tokens_.erase(std::prev(first_tokens_.end()));
  if (next_edge() < kNever) on_due();
}

Seconds WindowTracker::next_edge() const {
  if (main_.from == kNever) {
    switch (config_.rule) {
      case WindowRule::steady: return warmup_ > Seconds() ? warmup_ : kNever;
      case WindowRule::whole: return warmup_;
      case WindowRule::between: return config_.from.value_or(warmup_);
      case WindowRule::full_batch:
        return static_cast<std::int64_t>(first_tokens_.size()) == *config_.sequences ? *first_tokens_.rbegin() : kNever;
    }
  }
  return config_.rule == WindowRule::between && main_.to == kNever ? config_.to.value_or(kNever) : kNever;
}

void WindowTracker::pass(Seconds now) {
  while (next_edge() <= now) main_.from == kNever ? open_at(next_edge()) : close_at(next_edge());
}

bool WindowTracker::found(Seconds end) const {
  if (main_.from >= std::min(main_.to, end)) return false;
  return config_.rule != WindowRule::steady || (filled_ && ended_inside_ >= kFewestTasks);
}

}  // namespace llmscape::metrics
