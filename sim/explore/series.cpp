// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/series.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::explore {

void Series::Integral::add(double from, double to, double value) {
  while (to > width_ * static_cast<double>(kMost)) {
    for (std::size_t i = 0; i < windows_.size(); i += 2)
      windows_[i / 2] = windows_[i] + (i + 1 < windows_.size() ? windows_[i + 1] : 0);
    windows_.resize((windows_.size() + 1) / 2);
    width_ *= 2;
  }
  const auto first = static_cast<std::size_t>(from / width_);
  const auto last = std::min(static_cast<std::size_t>(to / width_), kMost - 1);
  if (windows_.size() <= last) windows_.resize(last + 1);
  for (std::size_t i = first; i <= last; ++i) {
    const double begin = std::max(from, static_cast<double>(i) * width_);
    const double end = std::min(to, static_cast<double>(i + 1) * width_);
    if (end > begin) windows_[i] += value * (end - begin);
  }
}

std::vector<double> Series::Integral::means(double width, std::size_t count) const {
  std::vector<double> out(count);
  const auto joined = static_cast<std::size_t>(std::llround(width / width_));
  for (std::size_t i = 0; i < windows_.size(); ++i) out[i / joined] += windows_[i] / width;
  return out;
}

void Series::on_step(int, Seconds start, Seconds end, std::int64_t decodes, std::int64_t, std::int64_t waiting,
                     std::int64_t kv_blocks_used) {
  waiting_.add(start.si(), end.si(), static_cast<double>(waiting));
  batch_.add(start.si(), end.si(), static_cast<double>(decodes));
  kv_blocks_.add(start.si(), end.si(), static_cast<double>(kv_blocks_used));
}

TimeLines Series::lines() const {
  const double power_width = power_.window().si();
  const auto power_windows = static_cast<double>(power_.windows().size());
  double width = std::max({waiting_.width(), batch_.width(), kv_blocks_.width()});
  while (power_windows * power_width > width * static_cast<double>(kMost)) width *= 2;
  width = std::max(width, power_width);
  const auto count = std::min(kMost, static_cast<std::size_t>(std::ceil(power_windows * power_width / width)));
  TimeLines lines{width, {}, {}, {}, std::vector<double>(count)};
  for (auto [to, from] : {std::pair(&lines.waiting, &waiting_), std::pair(&lines.batch, &batch_),
                          std::pair(&lines.kv_blocks, &kv_blocks_)}) {
    *to = from->means(width, kMost);
    to->resize(count);
  }
  const auto joined = static_cast<std::size_t>(std::llround(width / power_width));
  for (std::size_t i = 0; i < power_.windows().size(); ++i)
    lines.power_w[i / joined] += power_.windows()[i].si() / width;
  return lines;
}

}  // namespace llmscape::explore
