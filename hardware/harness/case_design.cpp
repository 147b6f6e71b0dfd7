// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/case_design.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace llmscape::hardware::harness {
namespace {

constexpr std::uint64_t kSeed = 1;  // the list is the same in every run
constexpr std::int64_t kStep = 64, kFewRows = 256;

double log_spread(double u, std::int64_t low, std::int64_t high) {
  return static_cast<double>(low) * std::pow(static_cast<double>(high) / static_cast<double>(low), u);
}

}  // namespace

std::int64_t spread(double u, std::int64_t low, std::int64_t high) { return std::llround(log_spread(u, low, high)); }

std::int64_t spread_width(double u, std::int64_t low, std::int64_t high) {
  const std::int64_t width = std::llround(log_spread(u, low, high) / static_cast<double>(kStep)) * kStep;
  return std::has_single_bit(static_cast<std::uint64_t>(width)) ? width + kStep : width;
}

std::int64_t spread_rows(double u, std::int64_t most) {
  return u < 0.5 ? spread(2 * u, 1, kFewRows) : spread(2 * u - 1, kFewRows + 1, most);
}

std::int64_t chosen(double u, std::initializer_list<std::int64_t> from) {
  return from.begin()[static_cast<std::size_t>(u * static_cast<double>(from.size()))];
}

void CaseList::add_points(const Points& points,
                          const std::function<std::optional<traces::KernelCase>(const Sobol::Point&)>& make) {
  Sobol design(kSeed);
  const auto first = static_cast<std::ptrdiff_t>(cases_.size());
  for (int left = quick_ ? points.quick : points.full; left > 0;) {
    const auto what = make(design.next());
    if (!what || std::find(cases_.begin() + first, cases_.end(), *what) != cases_.end()) continue;
    cases_.push_back(*what);
    --left;
  }
}

void CaseList::add_sizes(std::int64_t low, std::int64_t high, std::int64_t factor,
                         const std::function<traces::KernelCase(std::int64_t)>& make) {
  if (quick_) factor *= factor;
  for (std::int64_t size = low; size <= high; size *= factor) cases_.push_back(make(size));
}

}  // namespace llmscape::hardware::harness
