// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/agenda.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace llmscape::kernel {
namespace {

constexpr Seconds kNobody{std::numeric_limits<double>::infinity()};

void check_order(Seconds& last, Seconds now) {
  if (now < last) throw std::logic_error("INV-2: the clock went back");
  last = now;
}

}  // namespace

void Agenda::add(Process& process) {
  process.seat = seats_.size();
  seats_.push_back(&process);
  woken_.emplace_back();
  plan(process.seat);
}

// It may be earlier than was known; one that is later is asked when it seems to be due.
void Agenda::ring(Process& process) {
  if (&process == leader_) {
    leader_rung_ = true;
  } else {
    moved_ = true;
    plan(process.seat);
  }
}

void Agenda::plan(std::size_t seat) {
  const Seconds at = seats_[seat]->next_event();
  if (at == kNobody || (planned_.contains(seat) && planned_.key(seat) <= at)) return;
  planned_.set(seat, at);
}

// What has been put off meanwhile is noted again.
Seconds Agenda::next_process() {
  while (!planned_.empty()) {
    const std::size_t seat = planned_.front();
    const Seconds known = planned_.front_key(), at = seats_[seat]->next_event();
    if (at <= known) return known;
    if (at == kNobody) planned_.erase(seat);
    else planned_.set(seat, at);
  }
  return kNobody;
}

Seconds Agenda::next(Seconds moved) {
  leader_due_ = leader_->next_event();
  moved_ = false;
  const Seconds at = std::min({leader_due_, moved, next_process()});
  leader_rung_ = moved <= at;  // a transfer that ends may tell it something
  if (at == kNobody) throw Deadlock("all processes wait for ever");
  return at;
}

bool Agenda::round(Seconds now) {
  if (leader_rung_) leader_due_ = leader_->next_event();
  if (leader_due_ <= now) {
    moved_ = true;
    check_order(leader_woken_, now);
    ++events_;
    if (!leader_->wake(now)) return false;
  }
  due_.clear();
  while ((moved_ || !due_.empty() ? next_process() : planned_.empty() ? kNobody : planned_.front_key()) <= now) {
    due_.push_back(planned_.front());
    planned_.erase(due_.back());
  }
  for (const std::size_t seat : due_) {
    check_order(woken_[seat], now);
    ++events_;
    seats_[seat]->wake(now);
    plan(seat);
  }
  return true;
}

}  // namespace llmscape::kernel
