// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "sim/serving/gateway/call_table.hpp"
#include "sim/serving/gateway/event_source.hpp"

namespace llmscape::serving {

// What the process in front of the engines needs for a call.
struct FrontEndCost {
  Seconds per_call;
  Seconds per_token;  // of the prompt
  [[nodiscard]] Seconds of(std::int64_t prompt_tokens) const {
    return per_call + static_cast<double>(prompt_tokens) * per_token;
  }
};

// The process in front of the engines: reads a call, or a later version of its prompt, and tokenises it, one after the
// other. Calls that were given up while they waited are passed over; one that is being read is read to its end.
class FrontEnd final : public EventSource {
 public:
  // Hears of a version (0: the call itself) that was read; not of calls that were answered meanwhile.
  using Pass = std::function<void(OpenCall& call, std::size_t version, Seconds at)>;
  FrontEnd(FrontEndCost cost, CallTable& calls, Pass pass) : cost_(cost), calls_(calls), pass_(std::move(pass)) {}

  [[nodiscard]] Seconds takes(std::int64_t tokens) const { return cost_.of(tokens); }
  void read(const OpenCall& call, std::size_t version, Seconds takes, Seconds now) {
    waiting_.push_back({ref(call.request), version, takes});
    if (!reading_) begin(now);
  }
  [[nodiscard]] Seconds next_event() override { return reading_ ? done_ : kNever; }
  void run(Seconds) override {
    const Read read = *std::exchange(reading_, std::nullopt);
    const Seconds at = done_;
    begin(at);
    if (OpenCall* const call = calls_.find(read.call)) pass_(*call, read.version, at);
  }

 private:
  struct Read {
    CallRef call;
    std::size_t version;
    Seconds takes;
  };

  // Takes the next that somebody still waits for.
  void begin(Seconds now) {
    while (!waiting_.empty() && !reading_) {
      if (calls_.find(waiting_.front().call)) {
        reading_ = waiting_.front();
        done_ = now + reading_->takes;
      }
      waiting_.pop_front();
    }
  }

  FrontEndCost cost_;
  CallTable& calls_;
  Pass pass_;
  std::deque<Read> waiting_;
  std::optional<Read> reading_;
  Seconds done_;
};

}  // namespace llmscape::serving
