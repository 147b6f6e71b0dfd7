// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/series.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::explore {

void Series::widen() {
  for (std::size_t i = 0; i < windows_.size(); i += 2) {
    Window joined = windows_[i];
    if (i + 1 < windows_.size()) joined.add(windows_[i + 1], 1);
    windows_[i / 2] = joined;
  }
  windows_.resize((windows_.size() + 1) / 2);
  width_ *= 2;
  per_window_ /= 2;
}

void Series::on_step(int, Seconds start, Seconds end, std::int64_t decodes, std::int64_t, std::int64_t waiting,
                     std::int64_t kv_blocks_used) {
  largest_batch_ = std::max(largest_batch_, decodes);
  const double from = start.si(), to = end.si();
  end_ = std::max(end_, to);
  while (to > width_ * static_cast<double>(kMost)) widen();
  const auto first = static_cast<std::size_t>(from * per_window_);
  const auto last = std::min(static_cast<std::size_t>(to * per_window_), kMost - 1);
  if (windows_.size() <= last) windows_.resize(last + 1);
  const Window value{static_cast<double>(waiting), static_cast<double>(decodes), static_cast<double>(kv_blocks_used)};
  if (first == last) return windows_[first].add(value, to - from);
  for (std::size_t i = first; i <= last; ++i) {
    const double begin = std::max(from, static_cast<double>(i) * width_);
    const double until = std::min(to, static_cast<double>(i + 1) * width_);
    if (until > begin) windows_[i].add(value, until - begin);
  }
}

TimeLines Series::lines() const {
  const double power_width = power_.window().si(), end = std::max(end_, power_.end().si());
  double width = std::max(width_, power_width);
  while (end > width * static_cast<double>(kMost)) width *= 2;
  const auto count = static_cast<std::size_t>(std::ceil(end / width));
  TimeLines lines{width,
                  std::vector<double>(count),
                  std::vector<double>(count),
                  std::vector<double>(count),
                  std::vector<double>(count),
                  largest_batch_};
  if (count == 0) return lines;
  // What ends at the edge of a window may have left an empty one behind it.
  const auto place = [count](std::size_t i, std::size_t joined) { return std::min(i / joined, count - 1); };
  const auto windows_joined = static_cast<std::size_t>(std::llround(width / width_));
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const std::size_t at = place(i, windows_joined);
    lines.waiting[at] += windows_[i].waiting / width;
    lines.batch[at] += windows_[i].batch / width;
    lines.kv_blocks[at] += windows_[i].kv_blocks / width;
  }
  const std::vector<Joules> spent = power_.windows();
  const auto joined = static_cast<std::size_t>(std::llround(width / power_width));
  for (std::size_t i = 0; i < spent.size(); ++i) lines.power_w[place(i, joined)] += spent[i].si() / width;
  const double last = end - width * static_cast<double>(count - 1);
  for (auto* line : {&lines.waiting, &lines.batch, &lines.kv_blocks, &lines.power_w}) line->back() *= width / last;
  return lines;
}

}  // namespace llmscape::explore
