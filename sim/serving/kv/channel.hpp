// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "base/quantity.hpp"

namespace llmscape::serving {

// One direction of a store's link: transfers follow one another in the order in which they are asked for, each at the
// full bandwidth. Latency is paid by each and does not hold up the next. Another may lie behind it: what passes both is
// taken over by the other byte by byte, and waits for it without holding up this one.
class Channel {
 public:
  Channel(BytesPerSecond bandwidth, Seconds latency) : bandwidth_(bandwidth), latency_(latency) {}
  // When the last byte of a transfer would have come that is asked for at `now`.
  [[nodiscard]] Seconds arrival(Bytes bytes, Seconds now) const { return after(bytes, now) + latency_; }
  [[nodiscard]] Seconds arrival(Bytes bytes, Seconds now, const Channel& behind) const {
    return std::max(after(bytes, now), behind.after(bytes, std::max(now, free_at_))) + latency_ + behind.latency_;
  }
  // Asks for it; returns the same. Calls must come in order of time.
  Seconds send(Bytes bytes, Seconds now) {
    busy_ += bytes / bandwidth_;
    free_at_ = after(bytes, now);
    return free_at_ + latency_;
  }
  Seconds send(Bytes bytes, Seconds now, Channel& behind) {
    const Seconds arrives = arrival(bytes, now, behind);
    behind.send(bytes, std::max(now, free_at_));
    send(bytes, now);
    return arrives;
  }
  // Of so many bytes that were asked for in all, those that it has moved until `now`.
  [[nodiscard]] Bytes moved(Bytes asked, Seconds now) const { return free_at_ > now ? bandwidth_ * busy(now) : asked; }
  // Time that it has been at work until `now`.
  [[nodiscard]] Seconds busy(Seconds now) const { return busy_ - std::max(Seconds(), free_at_ - now); }

 private:
  [[nodiscard]] Seconds after(Bytes bytes, Seconds now) const { return std::max(now, free_at_) + bytes / bandwidth_; }

  BytesPerSecond bandwidth_;
  Seconds latency_;
  Seconds free_at_;
  Seconds busy_;
};

}  // namespace llmscape::serving
