// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/covered.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace llmscape::observe {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

bool is_rate(const std::string& quantity) {
  return quantity == quantity::kPromptRate || quantity == quantity::kOutputRate;
}

}  // namespace

bool is_of_devices(const std::string& quantity) { return quantity == quantity::kPower || quantity == quantity::kClock; }

void Course::add(double at, double value) {
  open_.at += at;
  open_.value += value;
  open_.weight += 1;
  if (open_.weight < weight_) return;
  samples_.push_back({open_.at / open_.weight, open_.value / open_.weight, open_.weight});
  open_ = {0, 0, 0};
  if (samples_.size() < kMost) return;
  join_neighbours();
  weight_ *= 2;
}

void Course::join_neighbours() {
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
    const Sample &a = samples_[i], &b = samples_[i + 1];
    const double weight = a.weight + b.weight;
    samples_[i / 2] = {(a.at * a.weight + b.at * b.weight) / weight, (a.value * a.weight + b.value * b.weight) / weight,
                       weight};
  }
  if (samples_.size() % 2 == 1) samples_[samples_.size() / 2] = samples_.back();
  samples_.resize((samples_.size() + 1) / 2);
}

void Course::append(const Course& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
  std::ranges::stable_sort(samples_, {}, &Sample::at);
  while (samples_.size() >= kMost) join_neighbours();
}

bool Course::overlaps(const Course& other) const {
  constexpr double kReordered = 10;  // s, as of Moments
  if (samples_.empty() || other.samples_.empty()) return false;
  const double common =
      std::min(samples_.back().at, other.samples_.back().at) - std::max(samples_.front().at, other.samples_.front().at);
  const double shorter =
      std::min(samples_.back().at - samples_.front().at, other.samples_.back().at - other.samples_.front().at);
  return common >= 0 && (shorter == 0 || common > std::min(kReordered, shorter / 2));
}

void Course::shift(double seconds) {
  for (Sample& s : samples_) s.at += seconds;
}

double usual_spacing(const std::vector<Course::Sample>& samples, std::size_t first) {
  std::vector<double> apart;
  for (std::size_t i = first; i + 1 < samples.size(); ++i) apart.push_back(samples[i + 1].at - samples[i].at);
  if (apart.empty()) return 0;
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::ranges::nth_element(apart, middle);
  return *middle;
}

Covered::Covered(const std::vector<Course::Sample>& samples, double spacing, std::optional<double> quiet)
    : samples_(&samples), spacing_(usual_spacing(samples)), rests_(quiet.has_value()) {
  if (spacing_ == 0) spacing_ = spacing;
  most_ = std::max(kSilent * spacing_, quiet.value_or(0));
}

std::optional<double> Covered::near(double at) const {
  const auto next = std::ranges::lower_bound(*samples_, at, {}, &Course::Sample::at);
  const bool take_next =
      next != samples_->end() && (next == samples_->begin() || next->at - at < at - std::prev(next)->at);
  const Course::Sample& nearest = take_next ? *next : *std::prev(next);
  // Before its first sample and after its last one it may not be there yet, or no more.
  const bool within = samples_->front().at <= at && at <= samples_->back().at;
  if (std::abs(nearest.at - at) <= (within ? most_ : kSilent / 2 * spacing_)) return nearest.value;
  return rests_ ? std::optional(0.0) : std::nullopt;
}

std::optional<double> Covered::mean(double from, double to) const {
  double sum = 0, time = 0;
  for (auto s = std::ranges::upper_bound(*samples_, from, {}, &Course::Sample::at); s != samples_->end(); ++s) {
    double since = s->at - spacing_;
    if (s != samples_->begin() && s->at - std::prev(s)->at <= most_) since = std::prev(s)->at;
    else if (s != samples_->begin()) since = std::max(since, std::prev(s)->at);
    const double length = std::min(s->at, to) - std::max(since, from);
    if (length > 0) {
      sum += s->value * length;
      time += length;
    }
    if (s->at >= to) break;
  }
  if (rests_ && to > from) return sum / (to - from);
  return time > 0 ? std::optional(sum / time) : std::nullopt;
}

std::vector<Course::Sample> Observed::total(const std::string& quantity) const {
  const auto found = courses.find(quantity);
  if (found == courses.end()) return {};
  double spacing = kEndless;
  std::vector<const Course*> each;
  for (const auto& [name, course] : found->second) {
    if (course.samples().empty()) continue;
    each.push_back(&course);
    if (const double own = usual_spacing(course.samples()); own > 0) spacing = std::min(spacing, own);
  }
  if (each.empty()) return {};
  if (each.size() == 1) return each.front()->samples();
  const bool of_devices = is_of_devices(quantity);
  std::optional<double> quiet = quiet_after;
  if (!quiet && log_period) quiet = kSilent * *log_period;
  if (spacing == kEndless && log_period) spacing = *log_period;
  std::vector<Covered> parts;
  std::vector<Course::Sample> moments, sum;
  for (const Course* course : each) {
    parts.emplace_back(course->samples(), spacing, of_devices ? std::nullopt : quiet);
    moments.insert(moments.end(), course->samples().begin(), course->samples().end());
  }
  std::ranges::stable_sort(moments, {}, &Course::Sample::at);
  for (const Course::Sample& moment : moments) {
    if (!sum.empty() && (moment.at <= sum.back().at || moment.at - sum.back().at < spacing / 2)) continue;
    // A log has no lines while nothing runs: what one tells is of its period.
    const double since = sum.empty() ? kEndless : std::max(sum.back().at, quiet ? moment.at - spacing : -kEndless);
    double value = 0;
    std::size_t there = 0;
    for (const Covered& part : parts) {
      const auto own = is_rate(quantity) && !sum.empty() ? part.mean(since, moment.at) : part.near(moment.at);
      value += own.value_or(0);
      there += own ? 1 : 0;
    }
    if (there == 0 || (of_devices && there < parts.size())) continue;
    const bool is_mean = quantity == quantity::kKvUse || quantity == quantity::kClock;
    sum.push_back({moment.at, is_mean ? value / static_cast<double>(there) : value, moment.weight});
  }
  return sum;
}

}  // namespace llmscape::observe
