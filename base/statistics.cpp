// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/quick_logs.hpp"

namespace llmscape {
namespace {

// Bucket i of the sketch holds the values in (g^(i-1), g^i] (DDSketch; Masson, Rim and Lee, VLDB 2019).
const double kLogG = std::log((1 + Values::kSketchError) / (1 - Values::kSketchError));

const double kBucketsPerDoubling = std::log(2.0) / kLogG;

inline int bucket_of(double value) {
  const double place = quick_log2(std::max(value, std::numeric_limits<double>::min())) * kBucketsPerDoubling;
  const int below = static_cast<int>(place);  // or above, where the place is negative
  return below + (place > below ? 1 : 0);
}
// The value within a relative kSketchError of all in the bucket.
double value_of_bucket(int bucket) { return std::exp(bucket * kLogG) * (1 - Values::kSketchError); }

}  // namespace

inline void Values::into_bucket(double value, std::int64_t weight) {
  if (value == 0) {
    zeros_ += weight;
    return;
  }
  const int index = bucket_of(value);
  const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(index) - first_bucket_);  // large if below
  if (at < buckets_.size()) buckets_[at] += weight;
  else bucket(index) += weight;
}

void Moments::refuse(std::int64_t weight) {
  throw std::invalid_argument(weight < 0 ? "a distribution takes weights from 0"
                                         : "a distribution takes finite values from 0");
}

void Moments::merge(const Moments& other) {
  if (&other == this) return merge(Moments(other));
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  minimum_ = std::min(minimum_, other.minimum_);
  maximum_ = std::max(maximum_, other.maximum_);
  count_ += other.count_;
  sum_.add(other.sum_.sum);
  sum_.add(other.sum_.lost);
  spread(other.running_mean_, other.squared_distances_, other.count_);
}

double Moments::standard_deviation() const {
  return count_ == 0 ? 0 : std::sqrt(squared_distances_ / static_cast<double>(count_));
}

double Moments::mean() const { return count_ == 0 ? 0 : sum() / static_cast<double>(count_); }

void Values::add_slowly(double value, std::int64_t weight) {
  if (!sketching_ && entries_ == kExactEntries) start_sketch();
  if (sketching_) return into_bucket(value, weight);
  ++entries_;
  for (; weight > kMostOfEntry; weight -= kMostOfEntry) weighted_.push_back(packed(value, kMostOfEntry));
  weighted_.push_back(packed(value, weight));
}

void Distribution::add(double value, std::int64_t weight) {
  moments_.add(value, weight);
  if (weight > 0) values_.add(value, weight);
}

template <class Visit>
void Values::each_entry(Visit visit) const {
  singles_.each([&](double value) { visit(value, std::int64_t{1}); });
  weighted_.each([&](const PackedEntry& entry) { visit(entry.value(), std::int64_t{entry.weight}); });
}

void Values::start_sketch() {
  sketching_ = true;
  each_entry([this](double value, std::int64_t weight) { into_bucket(value, weight); });
  singles_ = {};
  weighted_ = {};
}

// One that may not be there yet.
std::int64_t& Values::bucket(int index) {
  if (buckets_.empty()) first_bucket_ = index;
  if (index < first_bucket_) {
    buckets_.insert(buckets_.begin(), static_cast<std::size_t>(first_bucket_ - index), 0);
    first_bucket_ = index;
  }
  const auto at = static_cast<std::size_t>(index - first_bucket_);
  if (at >= buckets_.size()) buckets_.resize(at + 1);
  return buckets_[at];
}

void Values::merge(const Values& other) {
  if (!sketching_ && entries_ + other.entries_ <= kExactEntries) {  // of many parts, and mostly not more than that
    other.singles_.each([this](double value) { singles_.push_back(value); });
    other.weighted_.each([this](const PackedEntry& entry) { weighted_.push_back(entry); });
    entries_ += other.entries_;
  } else {
    other.each_entry([this](double value, std::int64_t weight) { add(value, weight); });
  }
  if (!other.sketching_) return;
  if (!sketching_) start_sketch();
  zeros_ += other.zeros_;
  for (std::size_t i = 0; i < other.buckets_.size(); ++i)
    if (other.buckets_[i] > 0) bucket(other.first_bucket_ + static_cast<int>(i)) += other.buckets_[i];
}

void Distribution::merge(const Distribution& other) {
  if (&other == this) return merge(Distribution(other));
  moments_.merge(other.moments_);
  values_.merge(other.values_);
}

namespace {

std::int64_t rank_of(const Moments& all, double level) {
  // A hair less than q n: 0.07 * 1000 is 70.00000000000001 in doubles, and still means rank 70.
  const double position = level * static_cast<double>(all.count()) * (1 - 1e-15);
  return std::clamp(static_cast<std::int64_t>(std::ceil(position)), std::int64_t{1}, all.count());
}

// Bins in which positive values stand in their order: by the first bits of their difference from the least of them, as
// the bits of positive doubles are in the order of their values.
class Bins {
 public:
  // As many as let few values share one.
  Bins(double least, double most, std::size_t values)
      : size_(std::clamp(std::bit_ceil(4 * values), std::size_t{64}, std::size_t{1} << 14)),
        least_(std::bit_cast<std::uint64_t>(least)) {
    while ((std::bit_cast<std::uint64_t>(most) - least_) >> shift_ >= size_ - 1) ++shift_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  // 0: of zeros.
  [[nodiscard]] std::size_t of(double value) const {
    return value > 0 ? 1 + static_cast<std::size_t>((std::bit_cast<std::uint64_t>(value) - least_) >> shift_) : 0;
  }

 private:
  std::size_t size_;
  std::uint64_t least_;
  int shift_ = 0;
};

}  // namespace

std::vector<double> Values::quantiles(const Moments& all, std::span<const double> levels) const {
  std::vector<double> values(levels.size());
  if (all.count() == 0) return values;
  if (!sketching_) return exact_quantiles(all, levels);
  std::ranges::transform(levels, values.begin(),
                         [&](double level) { return sketched_quantile(all, rank_of(all, level)); });
  return values;
}

// Nothing is sorted but the bins that hold one of the ranks.
std::vector<double> Values::exact_quantiles(const Moments& all, std::span<const double> levels) const {
  double least = all.minimum() > 0 ? all.minimum() : all.maximum();  // above 0
  if (all.minimum() == 0)
    each_entry([&](double value, std::int64_t) {
      if (value > 0) least = std::min(least, value);
    });
  const Bins bins(least, all.maximum(), entries_);
  std::vector<std::int64_t> counts(bins.size());
  each_entry([&](double value, std::int64_t weight) { counts[bins.of(value)] += weight; });

  std::vector<char> wanted(bins.size());
  std::size_t bin = 0;
  std::int64_t before = 0;  // values in the bins before this one
  for (const double level : levels) {
    while (before + counts[bin] < rank_of(all, level)) before += counts[bin++];
    wanted[bin] = 1;
  }
  std::vector<Entry> sorted;
  each_entry([&](double value, std::int64_t weight) {
    if (wanted[bins.of(value)] != 0) sorted.push_back({value, weight});
  });
  std::ranges::sort(sorted, {}, &Entry::value);

  std::vector<double> values;
  auto entry = sorted.begin();
  std::int64_t seen = 0;  // values before the entry
  bin = 0;
  for (const double level : levels) {
    for (;;) {
      for (const std::size_t of = bins.of(entry->value); bin < of; ++bin)
        if (wanted[bin] == 0) seen += counts[bin];
      if (seen + entry->weight >= rank_of(all, level)) break;
      seen += entry++->weight;
    }
    values.push_back(entry->value);
  }
  return values;
}

double Values::sketched_quantile(const Moments& all, std::int64_t rank) const {
  std::int64_t seen = zeros_;
  if (rank <= seen) return 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (rank <= seen)
      return std::clamp(value_of_bucket(first_bucket_ + static_cast<int>(i)), all.minimum(), all.maximum());
  }
  return all.maximum();
}

double Values::share_at_most(const Moments& all, double limit) const {
  if (all.count() == 0 || limit < all.minimum()) return 0;
  if (limit >= all.maximum()) return 1;
  std::int64_t below = zeros_;
  if (sketching_) {
    for (std::size_t i = 0; i < buckets_.size() && value_of_bucket(first_bucket_ + static_cast<int>(i)) <= limit; ++i)
      below += buckets_[i];
  } else {
    each_entry([&](double value, std::int64_t weight) {
      if (value <= limit) below += weight;
    });
  }
  return static_cast<double>(below) / static_cast<double>(all.count());
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
