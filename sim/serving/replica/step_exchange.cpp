// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_exchange.hpp"

#include "sim/serving/request.hpp"

namespace llmscape::serving {

void ExchangedStep::plan(Seconds now, Seconds computed, Seconds expected) {
  ++number_;
  phase_ = Phase::computing;
  planned_at_ = now;
  next_ = computed;
  expected_ = expected;
}

bool ExchangedStep::advance(StepExchange& exchange, Seconds now) {
  if (phase_ == Phase::none || now < next_) return false;
  if (phase_ == Phase::computing) {
    phase_ = Phase::moving;
    next_ = kNever;
    const bool moves = exchange.begin(now, [this, number = number_](Seconds at) {
      if (number != number_ || phase_ != Phase::moving) return;
      phase_ = Phase::ended;
      // The fullest rank has links of its own, that send no faster than its price says.
      constexpr double kRounding = 1e-12;
      next_ = at < (1 - kRounding) * expected_ ? expected_ : at;
    });
    if (moves) return false;
    phase_ = Phase::ended;
    next_ = expected_;
    if (now < next_) return false;
  }
  phase_ = Phase::none;
  return true;
}

void ExchangedStep::abandon() { phase_ = Phase::none; }

}  // namespace llmscape::serving
