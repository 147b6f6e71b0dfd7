// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "base/quantity.hpp"

namespace llmscape::serving {

// One direction of a store's link: transfers follow one another in the order in which they are asked for, each at the
// full bandwidth. Latency is paid by each and does not hold up the next.
class Channel {
 public:
  Channel(BytesPerSecond bandwidth, Seconds latency) : bandwidth_(bandwidth), latency_(latency) {}
  // When the last byte of a transfer would have come that is asked for at `now`, and takes `least` over links of
  // whoever asks.
  [[nodiscard]] Seconds arrival(Bytes bytes, Seconds now, Seconds least = {}) const {
    return std::max(std::max(now, free_at_) + bytes / bandwidth_, now + least) + latency_;
  }
  // Asks for it; returns the same. Calls must come in order of time.
  Seconds send(Bytes bytes, Seconds now, Seconds least = {}) {
    const Seconds arrives = arrival(bytes, now, least);
    const Seconds takes = bytes / bandwidth_;
    free_at_ = std::max(now, free_at_) + takes;
    busy_ += takes;
    return arrives;
  }
  // Of so many bytes that were asked for in all, those that it has moved until `now`.
  [[nodiscard]] Bytes moved(Bytes asked, Seconds now) const { return free_at_ > now ? bandwidth_ * busy(now) : asked; }
  // Time that it has been at work until `now`.
  [[nodiscard]] Seconds busy(Seconds now) const { return busy_ - std::max(Seconds(), free_at_ - now); }

 private:
  BytesPerSecond bandwidth_;
  Seconds latency_;
  Seconds free_at_;
  Seconds busy_;
};

}  // namespace llmscape::serving
