// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

namespace llmscape::serving {

// Something in the gateway that happens at times of its own. The gateway keeps one list of them, in the order in which
// they act at one instant, reports before all; its next event, its wake-up and the check that something will come read
// that list.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // When it acts next; kNever: not before something happens to it.
  [[nodiscard]] virtual Seconds next_event() = 0;
  // Does what is due first, at `now` = next_event().
  virtual void run(Seconds now) = 0;
  // Whether a call may go on by what it does. False: it only looks on, so that its next event keeps no run alive.
  [[nodiscard]] virtual bool moves_calls() const { return true; }
};

}  // namespace llmscape::serving
