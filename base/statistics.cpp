// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace llmscape {
namespace {

// Bucket i of the sketch holds the values in (g^(i-1), g^i] (DDSketch; Masson, Rim and Lee, VLDB 2019).
const double kLogG = std::log((1 + Distribution::kSketchError) / (1 - Distribution::kSketchError));

int bucket_of(double value) { return static_cast<int>(std::ceil(std::log(value) / kLogG)); }
// The value within a relative kSketchError of all in the bucket.
double value_of_bucket(int bucket) { return std::exp(bucket * kLogG) * (1 - Distribution::kSketchError); }

}  // namespace

void Distribution::CompensatedSum::add(double value) {
  const double next = sum + value;
  lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
  sum = next;
}

void Distribution::add(double value, std::int64_t weight) {
  if (!(value >= 0) || !std::isfinite(value)) throw std::invalid_argument("a distribution takes finite values from 0");
  if (weight < 0) throw std::invalid_argument("a distribution takes weights from 0");
  if (weight == 0) return;
  minimum_ = count_ == 0 ? value : std::min(minimum_, value);
  maximum_ = std::max(maximum_, value);
  count_ += weight;
  sum_.add(value * static_cast<double>(weight));
  spread(value, 0, weight);
  keep(value, weight);
}

// Adds `count` values, already counted, of this mean and sum of squared distances from it (Chan, Golub and LeVeque
// 1983).
void Distribution::spread(double mean, double squared_distances, std::int64_t count) {
  const double share = static_cast<double>(count) / static_cast<double>(count_), distance = mean - running_mean_;
  running_mean_ += distance * share;
  squared_distances_ += squared_distances + distance * (mean - running_mean_) * static_cast<double>(count);
}

void Distribution::keep(double value, std::int64_t weight) {
  if (!sketching_ && singles_.size() + weighted_.size() == kExactEntries) start_sketch();
  if (sketching_) {
    into_bucket(value, weight);
  } else if (weight == 1) {
    singles_.push_back(value);
    sorted_ = false;
  } else {
    weighted_.push_back({value, weight});
    sorted_ = false;
  }
}

void Distribution::start_sketch() {
  sketching_ = true;
  for (const double value : std::exchange(singles_, {})) into_bucket(value, 1);
  for (const Entry& entry : std::exchange(weighted_, {})) into_bucket(entry.value, entry.weight);
}

void Distribution::into_bucket(double value, std::int64_t weight) {
  if (value == 0) {
    zeros_ += weight;
    return;
  }
  bucket(bucket_of(value)) += weight;
}

std::int64_t& Distribution::bucket(int index) {
  if (buckets_.empty()) first_bucket_ = index;
  if (index < first_bucket_) {
    buckets_.insert(buckets_.begin(), static_cast<std::size_t>(first_bucket_ - index), 0);
    first_bucket_ = index;
  }
  const auto at = static_cast<std::size_t>(index - first_bucket_);
  if (at >= buckets_.size()) buckets_.resize(at + 1);
  return buckets_[at];
}

void Distribution::merge(const Distribution& other) {
  if (&other == this) return merge(Distribution(other));
  if (other.count_ == 0) return;
  minimum_ = count_ == 0 ? other.minimum_ : std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
  count_ += other.count_;
  sum_.add(other.sum_.sum);
  sum_.add(other.sum_.lost);
  spread(other.running_mean_, other.squared_distances_, other.count_);
  for (const double value : other.singles_) keep(value, 1);
  for (const Entry& entry : other.weighted_) keep(entry.value, entry.weight);
  if (!other.sketching_) return;
  if (!sketching_) start_sketch();
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < other.buckets_.size(); ++i)
    if (other.buckets_[i] > 0) bucket(other.first_bucket_ + static_cast<int>(i)) += other.buckets_[i];
}

double Distribution::standard_deviation() const {
  return count_ == 0 ? 0 : std::sqrt(squared_distances_ / static_cast<double>(count_));
}

double Distribution::mean() const { return count_ == 0 ? 0 : sum() / static_cast<double>(count_); }

void Distribution::sort() const {
  if (sorted_) return;
  std::sort(singles_.begin(), singles_.end());
  std::sort(weighted_.begin(), weighted_.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
  sorted_ = true;
}

std::int64_t Distribution::rank(double level) const {
  // A hair less than q n: 0.07 * 1000 is 70.00000000000001 in doubles, and still means rank 70.
  const double position = level * static_cast<double>(count_) * (1 - 1e-15);
  return std::clamp(static_cast<std::int64_t>(std::ceil(position)), std::int64_t{1}, count_);
}

double Distribution::quantile(double q) const { return quantiles({&q, 1}).front(); }

std::vector<double> Distribution::quantiles(std::span<const double> levels) const {
  std::vector<double> values(levels.size());
  if (count_ == 0) return values;
  if (sketching_) {
    std::ranges::transform(levels, values.begin(), [this](double level) { return sketched_quantile(rank(level)); });
    return values;
  }
  sort();
  auto single = singles_.begin();
  auto weighted = weighted_.begin();
  std::int64_t seen = 0;  // values before the two
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (const std::int64_t wanted = rank(levels[i]);;) {
      const bool next_is_single =
          weighted == weighted_.end() || (single != singles_.end() && *single <= weighted->value);
      const std::int64_t count = next_is_single ? 1 : weighted->weight;
      values[i] = next_is_single ? *single : weighted->value;
      if (seen + count >= wanted) break;
      seen += count;
      if (next_is_single) ++single;
      else ++weighted;
    }
  }
  return values;
}

double Distribution::sketched_quantile(std::int64_t rank) const {
  std::int64_t seen = zeros_;
  if (rank <= seen) return 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (rank <= seen) return std::clamp(value_of_bucket(first_bucket_ + static_cast<int>(i)), minimum_, maximum_);
  }
  return maximum_;
}

double Distribution::share_at_most(double limit) const {
  if (count_ == 0 || limit < minimum_) return 0;
  if (limit >= maximum_) return 1;
  std::int64_t below = zeros_;
  if (sketching_) {
    for (std::size_t i = 0; i < buckets_.size() && value_of_bucket(first_bucket_ + static_cast<int>(i)) <= limit; ++i)
      below += buckets_[i];
  } else {
    sort();
    below += std::upper_bound(singles_.begin(), singles_.end(), limit) - singles_.begin();
    for (const Entry& entry : weighted_)
      if (entry.value <= limit) below += entry.weight;
  }
  return static_cast<double>(below) / static_cast<double>(count_);
}

namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<double> confidence_half_width(std::span<const double> batch_means) {
  if (batch_means.size() < 2) return {};
  const double mean = mean_of(batch_means);
  const double n = static_cast<double>(batch_means.size());
  double squares = 0;
  for (const double value : batch_means) squares += (value - mean) * (value - mean);
  return student_t_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
}

Slope slope(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("a slope needs as many y as x");
  if (x.size() < 2) return {};
  const double x_mean = mean_of(x), y_mean = mean_of(y);
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  if (xx == 0) return {};
  Slope line{xy / xx, 0};
  if (x.size() == 2) return line;
  double residual = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = y[i] - y_mean - line.slope * (x[i] - x_mean);
    residual += off * off;
  }
  line.standard_error = std::sqrt(residual / static_cast<double>(x.size() - 2) / xx);
  return line;
}

}  // namespace llmscape
