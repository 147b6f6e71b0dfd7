// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/power_series.hpp"

#include <algorithm>

namespace llmscape::metrics {

void PowerSeries::add(Seconds from, Seconds to, Joules energy) {
  end_ = std::max(end_, to);
  while (to >= window_ * static_cast<double>(kMost)) widen();
  const std::size_t first = window_of(from), last = window_of(to);
  if (windows_.size() <= last) windows_.resize(last + 1);
  const Quanta all = quanta(energy);
  if (first == last) {
    windows_[first] += all;
    return;
  }
  // What is spent by the edge of a window is rounded, and no window for itself: wider ones come to the same.
  const Watts power = energy / (to - from);
  Quanta spent = 0;
  for (std::size_t i = first; i < last; ++i) {
    const Quanta until = std::min(all, quanta(power * (window_ * static_cast<double>(i + 1) - from)));
    windows_[i] += until - spent;
    spent = until;
  }
  windows_[last] += all - spent;
}

void PowerSeries::add(const PowerSeries& other, std::int64_t times) {
  PowerSeries added = other;
  while (added.window_ < window_) added.widen();
  while (window_ < added.window_) widen();
  end_ = std::max(end_, added.end_);
  windows_.resize(std::max(windows_.size(), added.windows_.size()));
  for (std::size_t i = 0; i < added.windows_.size(); ++i) windows_[i] += times * added.windows_[i];
}

void PowerSeries::widen() {
  window_ *= 2;
  per_window_ /= 2;
  const std::size_t pairs = windows_.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) windows_[i] = windows_[2 * i] + windows_[2 * i + 1];
  if (windows_.size() % 2 == 1) windows_[pairs] = windows_.back();
  windows_.resize((windows_.size() + 1) / 2);
}

std::vector<Joules> PowerSeries::windows() const {
  std::vector<Joules> energies;
  energies.reserve(windows_.size());
  for (const Quanta energy : windows_) energies.push_back(joules(energy));
  return energies;
}

Joules PowerSeries::total() const {
  Quanta sum = 0;
  for (const Quanta energy : windows_) sum += energy;
  return joules(sum);
}

Watts PowerSeries::power(std::size_t window) const {
  const Seconds from = window_ * static_cast<double>(window);
  const Seconds length = std::min(window_, end_ - from);
  return length > Seconds() ? joules(windows_[window]) / length : Watts();
}

Watts PowerSeries::peak(Seconds from, Seconds to) const {
  const auto windows = static_cast<std::size_t>(slice() / window_);
  Watts inside, all;
  bool any = false;
  for (std::size_t first = 0; first < windows_.size(); first += windows) {
    const Seconds begin = window_ * static_cast<double>(first), length = std::min(slice(), end_ - begin);
    if (length <= Seconds() || (first > 0 && length < slice())) break;
    Quanta sum = 0;
    for (std::size_t i = first; i < std::min(first + windows, windows_.size()); ++i) sum += windows_[i];
    const Watts power = joules(sum) / length;
    all = std::max(all, power);
    if (begin < from || begin >= to) continue;
    inside = std::max(inside, power);
    any = true;
  }
  return any ? inside : all;
}

}  // namespace llmscape::metrics
