// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "sim/serving/gateway/call_table.hpp"
#include "sim/serving/gateway/event_source.hpp"

namespace llmscape::serving {

// When calls run out of time, or their users out of patience.
class Deadlines final : public EventSource {
 public:
  using GiveUp = std::function<void(OpenCall& call, Outcome why, Seconds at)>;
  Deadlines(CallTable& calls, GiveUp give_up) : calls_(calls), give_up_(std::move(give_up)) {}

  // Nothing if `at` is kNever.
  void add(const OpenCall& call, Seconds at, Outcome why) {
    if (at != kNever) deadlines_.push({at, next_order_++, ref(call.request), why});
  }
  [[nodiscard]] Seconds next_event() override {
    // Those of calls that were answered before: most of them.
    while (!deadlines_.empty() && !calls_.find(deadlines_.top().call)) deadlines_.pop();
    return deadlines_.empty() ? kNever : deadlines_.top().at;
  }
  void run(Seconds) override {
    const Deadline due = deadlines_.top();
    deadlines_.pop();
    give_up_(*calls_.find(due.call), due.why, due.at);
  }

 private:
  struct Deadline {
    Seconds at;
    std::uint64_t order;
    CallRef call;
    Outcome why;
    bool operator>(const Deadline& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  CallTable& calls_;
  GiveUp give_up_;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::uint64_t next_order_ = 0;
};

}  // namespace llmscape::serving
