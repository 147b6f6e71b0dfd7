// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/indexed_heap.hpp"
#include "sim/kernel/kernel.hpp"

namespace llmscape::kernel {

// Who is due when: the leader and the other processes of a run, and the rounds of an instant. The others are kept by
// the times that they gave, and asked again when they were woken, when they are due and when somebody rings them.
class Agenda {
 public:
  void lead(Process& leader) { leader_ = &leader; }
  void add(Process& process);
  // The leader is asked in every round.
  void ring(Process& process);

  // When somebody is due next, `moved` being when the fabric is; kClockEnd, if not before. Throws Deadlock if all wait
  // for ever.
  Seconds next(Seconds moved);
  // A round at `now`, which next() gave: the leader, if it is due, then every other process that is. False: the leader
  // has ended.
  bool round(Seconds now);
  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  void plan(std::size_t seat);
  // When the first process is due; `until`, if not before.
  Seconds next_process(Seconds until);
  // When whoever is known to be due first is.
  Seconds ask_first();
  void wake(std::size_t seat, Seconds now);
  // The one that was asked, when nobody else is due.
  void wake_first(Seconds now);

  Process* leader_ = nullptr;
  Seconds leader_due_;         // as of next()
  bool leader_rung_ = false;   // since then
  std::size_t asked_ = kNone;  // the seat that was asked last, if nothing has happened since
  std::vector<Process*> seats_;
  std::vector<Seconds> woken_;  // of each seat, last
  Seconds leader_woken_;
  IndexedHeap<Seconds> planned_;  // seats
  std::vector<std::size_t> due_;
  std::int64_t events_ = 0;
};

}  // namespace llmscape::kernel
