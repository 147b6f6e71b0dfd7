// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::metrics {

// Energy over time, in windows of equal width. When a run outgrows kMost of them, pairs of neighbours are joined:
// memory is bounded, and no joule is lost. Windows are summed in whole numbers of a quantum far below what a double
// tells apart: the same energies come to the same bits in any order, and however they were spread over several series
// that are added. All replicas of a group share one.
class PowerSeries {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr Seconds kNarrowest{1.0 / 1024};  // a power of two: window edges are exact
  static constexpr Seconds kSlice{1};               // so many windows, whatever their width below it

  // Spends `energy` evenly from `from` (at least 0) to `to` (finite), or all at once where these are the same. Calls
  // may come in any order of time.
  void add(Seconds from, Seconds to, Joules energy);
  // So often as much as another one has.
  void add(const PowerSeries& other, std::int64_t times = 1);

  [[nodiscard]] Seconds window() const { return window_; }
  // From time 0 to the last one in which energy was spent.
  [[nodiscard]] std::vector<Joules> windows() const;
  [[nodiscard]] Joules total() const;
  // Mean power of one window; the last one ends where spending does.
  [[nodiscard]] Watts power(std::size_t window) const;
  // The latest moment until which energy was spent.
  [[nodiscard]] Seconds end() const { return end_; }
  // What a peak is the mean power of: a second, or a window where that is longer. So the peaks of runs of unlike
  // lengths compare.
  [[nodiscard]] Seconds slice() const { return std::max(window_, kSlice); }
  // That of the slice with the most, of those that begin at or after `from` and before `to`; of all, if none does. One
  // that the end cuts short counts only where there is no whole one.
  [[nodiscard]] Watts peak(Seconds from, Seconds to) const;
  [[nodiscard]] Watts peak() const { return peak(Seconds(), end_); }

 private:
  // In 2^-80 J, below 1.4e14 J: what a step spends, rounded by at most 1e-24 J, and their sums without rounding.
  __extension__ using Quanta = __int128;
  static constexpr double kHalf = 0x1p40;  // in two steps of 40 bits, which a processor converts by itself
  [[nodiscard]] static Quanta quanta(Joules energy) {
    const double coarse = energy.si() * kHalf;
    if (coarse >= 0x1p62) return static_cast<Quanta>(coarse * kHalf);
    const auto whole = static_cast<std::int64_t>(coarse);
    return (static_cast<Quanta>(whole) << 40) +
           static_cast<std::int64_t>((coarse - static_cast<double>(whole)) * kHalf);
  }
  [[nodiscard]] static Joules joules(Quanta quanta) { return Joules(static_cast<double>(quanta) / kHalf / kHalf); }

  void widen();
  [[nodiscard]] std::size_t window_of(Seconds at) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(at * per_window_));
  }

  Seconds window_ = kNarrowest;
  PerSecond per_window_ = 1 / kNarrowest;  // exact as well, and faster to multiply by
  Seconds end_;                            // of all that was added
  std::vector<Quanta> windows_;
};

}  // namespace llmscape::metrics
