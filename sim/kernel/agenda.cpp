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
    asked_ = kNone;
    plan(process.seat);
  }
}

void Agenda::plan(std::size_t seat) {
  const Seconds at = seats_[seat]->next_event();
  if (at == kNobody || (planned_.contains(seat) && planned_.key(seat) <= at)) return;
  planned_.set(seat, at);
}

// Nobody is due before what is known of the first, so that whoever is known to be due at `until` or later is not asked.
// What has been put off meanwhile is noted again.
Seconds Agenda::next_process(Seconds until) {
  while (!planned_.empty() && planned_.front_key() < until) {
    const Seconds known = planned_.front_key(), at = ask_first();
    if (at <= known) return known;
  }
  return until;
}

Seconds Agenda::ask_first() {
  asked_ = planned_.front();
  const Seconds at = seats_[asked_]->next_event();
  if (at == kNobody) planned_.erase(asked_);
  else if (at > planned_.front_key()) planned_.set(asked_, at);
  return at;
}

Seconds Agenda::next(Seconds moved) {
  leader_due_ = leader_->next_event();
  asked_ = kNone;
  const Seconds at = next_process(std::min(leader_due_, moved));
  leader_rung_ = moved <= at;  // a transfer that ends may tell it something
  if (at == kNobody) throw Deadlock("all processes wait for ever");
  return std::min(at, kClockEnd);
}

bool Agenda::round(Seconds now) {
  if (leader_rung_) leader_due_ = leader_->next_event();
  if (leader_due_ <= now || now == kClockEnd) {
    asked_ = kNone;
    check_order(leader_woken_, now);
    ++events_;
    if (!leader_->wake(now)) return false;
  }
  due_.clear();
  while (!planned_.empty() && planned_.front_key() <= now) {
    const Seconds known = planned_.front_key();
    if (planned_.front() != asked_ && ask_first() > known) continue;
    if (due_.empty() && planned_.second_key_or(kNobody) > now) {
      wake_first(now);
      return true;
    }
    due_.push_back(asked_);
    planned_.erase(asked_);
  }
  for (const std::size_t seat : due_) {
    wake(seat, now);
    plan(seat);
  }
  return true;
}

void Agenda::wake(std::size_t seat, Seconds now) {
  check_order(woken_[seat], now);
  ++events_;
  seats_[seat]->wake(now);
}

// It keeps its place until it has said when it is due again: one way through the heap instead of two.
void Agenda::wake_first(Seconds now) {
  const std::size_t seat = asked_;
  wake(seat, now);
  const Seconds at = seats_[seat]->next_event();
  if (at == kNobody) planned_.erase(seat);
  else planned_.set(seat, at);
}

}  // namespace llmscape::kernel
