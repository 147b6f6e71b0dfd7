// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::metrics {

// Energy over time, in windows of equal width. When a run outgrows kMost of them, pairs of neighbours are joined:
// memory is bounded, and no joule is lost.
class PowerSeries {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr Seconds kNarrowest{1.0 / 1024};  // a power of two: window edges are exact

  // Spends `energy` evenly from `from` (at least 0) to `to` (finite), or all at once where these are the same. Calls
  // may come in any order of time.
  void add(Seconds from, Seconds to, Joules energy);
  void add(const PowerSeries& other);

  [[nodiscard]] Seconds window() const { return window_; }
  // From time 0 to the last one in which energy was spent.
  [[nodiscard]] const std::vector<Joules>& windows() const { return windows_; }
  [[nodiscard]] Joules total() const;
  // Mean power of one window; the last one ends where spending does.
  [[nodiscard]] Watts power(std::size_t window) const;
  // The latest moment until which energy was spent.
  [[nodiscard]] Seconds end() const { return end_; }
  // That of the window with the most, of those that begin at or after `from` and before `to`; of all, if none does.
  [[nodiscard]] Watts peak(Seconds from, Seconds to) const;
  [[nodiscard]] Watts peak() const;

 private:
  void widen();
  [[nodiscard]] std::size_t window_of(Seconds at) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(at * per_window_));
  }

  Seconds window_ = kNarrowest;
  PerSecond per_window_ = 1 / kNarrowest;  // exact as well, and faster to multiply by
  Seconds end_;                            // of all that was added
  std::vector<Joules> windows_;
};

}  // namespace llmscape::metrics
