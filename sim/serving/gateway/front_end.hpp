// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "sim/serving/gateway/call_table.hpp"
#include "sim/serving/gateway/event_source.hpp"
#include "sim/serving/gateway/station.hpp"

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
// other.
class FrontEnd final : public EventSource {
 public:
  // Hears of a version (0: the call itself) that was read; not of calls that were answered meanwhile.
  using Pass = std::function<void(OpenCall& call, std::size_t version, Seconds at)>;
  FrontEnd(FrontEndCost cost, CallTable& calls, Pass pass) : cost_(cost), calls_(calls), pass_(std::move(pass)) {}

  [[nodiscard]] Seconds takes(std::int64_t tokens) const { return cost_.of(tokens); }
  void read(const OpenCall& call, std::size_t version, Seconds takes, Seconds now) {
    reading_.push_back({station_.serve(now, takes), ref(call.request), version});
  }
  [[nodiscard]] Seconds next_event() override { return reading_.empty() ? kNever : reading_.front().at; }
  void run(Seconds) override {
    const Read read = reading_.front();
    reading_.pop_front();
    if (OpenCall* const call = calls_.find(read.call)) pass_(*call, read.version, read.at);
  }

 private:
  struct Read {
    Seconds at;
    CallRef call;
    std::size_t version;
  };
  FrontEndCost cost_;
  CallTable& calls_;
  Pass pass_;
  Station station_{1};
  std::deque<Read> reading_;  // in order of time
};

}  // namespace llmscape::serving
