// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace llmscape {

// Of a stream of non-negative values with integer weights (a weight of n is n equal values): how many, the extremes,
// the mean and the standard deviation. Exact, but for rounding: the sum is compensated, in the order of the calls.
class Moments {
 public:
  // Throws std::invalid_argument for a value that is not finite or below 0, and for a weight below 0. A weight of 0
  // adds nothing.
  void add(double value, std::int64_t weight = 1) {
    if (!(value >= 0 && value <= std::numeric_limits<double>::max()) || weight < 0) refuse(weight);
    if (weight == 0) return;
    minimum_ = count_ == 0 ? value : std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
    count_ += weight;
    sum_.add(value * static_cast<double>(weight));
    spread(value, 0, weight);
  }
  void merge(const Moments& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double mean() const;                // 0 when empty
  [[nodiscard]] double standard_deviation() const;  // of the population; 0 when empty
  [[nodiscard]] double sum() const { return sum_.sum + sum_.lost; }
  [[nodiscard]] double minimum() const { return minimum_; }  // 0 when empty
  [[nodiscard]] double maximum() const { return maximum_; }

 private:
  struct CompensatedSum {  // Neumaier 1974
    double sum = 0, lost = 0;
    void add(double value) {
      const double next = sum + value;
      lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
      sum = next;
    }
  };
  [[noreturn]] static void refuse(std::int64_t weight);
  // Adds `count` values, already counted, of this mean and sum of squared distances from it (Chan, Golub and LeVeque
  // 1983).
  void spread(double mean, double squared_distances, std::int64_t count) {
    const double share = static_cast<double>(count) / static_cast<double>(count_), distance = mean - running_mean_;
    running_mean_ += distance * share;
    squared_distances_ += squared_distances + distance * (mean - running_mean_) * static_cast<double>(count);
  }

  std::int64_t count_ = 0;
  double minimum_ = 0, maximum_ = 0;
  CompensatedSum sum_;
  double running_mean_ = 0, squared_distances_ = 0;  // from the mean (Welford 1962)
};

// The values of such a stream, for quantiles. Exact up to kExactEntries entries (a weighted value is one entry), after
// that a mergeable sketch of logarithmic buckets: then a quantile's relative error is at most kSketchError. In which
// order they are added does not show, so that many streams may share one.
class Values {
 public:
  static constexpr std::size_t kExactEntries = 800'000;  // a run of millions of requests stays below 60 MB
  static constexpr double kSketchError = 0.005;

  // What Moments::add() takes, at least once.
  void add(double value, std::int64_t weight) {
    if (sketching_ || entries_ == kExactEntries || weight > kMostOfEntry) return add_slowly(value, weight);
    ++entries_;
    if (weight == 1) singles_.push_back(value);
    else weighted_.push_back(packed(value, weight));
  }
  void merge(const Values& other);
  [[nodiscard]] bool exact() const { return !sketching_; }
  // As Distribution has them; `all` is of all values that were added.
  [[nodiscard]] std::vector<double> quantiles(const Moments& all, std::span<const double> levels) const;
  [[nodiscard]] double share_at_most(const Moments& all, double limit) const;

 private:
  struct Entry {
    double value;
    std::int64_t weight;
  };
  // One in 12 bytes: a fleet keeps millions.
  struct PackedEntry {
    std::uint32_t low, high, weight;
    [[nodiscard]] double value() const {
      return std::bit_cast<double>(std::uint64_t{high} << 32U | std::uint64_t{low});
    }
  };
  // Grows without a copy of everything: a million values cost 8 MB and never 24.
  template <class T>
  class Kept {
   public:
    Kept() = default;
    Kept(const Kept& other) {
      other.each([this](const T& value) { push_back(value); });
    }
    Kept(Kept&& other) noexcept
        : next_(std::exchange(other.next_, nullptr)), end_(std::exchange(other.end_, nullptr)),
          blocks_(std::exchange(other.blocks_, {})) {}
    Kept& operator=(Kept other) noexcept {
      std::swap(next_, other.next_);
      std::swap(end_, other.end_);
      std::swap(blocks_, other.blocks_);
      return *this;
    }
    ~Kept() = default;

    void push_back(const T& value) {
      if (next_ == end_) add_block();
      *next_++ = value;
    }
    template <class Visit>
    void each(Visit visit) const {
      for (const Block& block : blocks_) {
        const T* const end = block.values.get() + block.size;
        const T* const filled = end == end_ ? next_ : end;
        for (const T* value = block.values.get(); value != filled; ++value) visit(*value);
      }
    }

   private:
    static constexpr std::size_t kSmallest = 32, kLargest = 4096;  // of a block
    struct Block {
      std::unique_ptr<T[]> values;
      std::size_t size;
    };
    void add_block() {
      const std::size_t size = std::min(kLargest, kSmallest << std::min<std::size_t>(blocks_.size(), 32));
      next_ = blocks_.emplace_back(Block{std::make_unique_for_overwrite<T[]>(size), size}).values.get();
      end_ = next_ + size;
    }
    T* next_ = nullptr;  // in the last block
    T* end_ = nullptr;
    std::vector<Block> blocks_;
  };

  static constexpr std::int64_t kMostOfEntry = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] static PackedEntry packed(double value, std::int64_t weight) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U),
            static_cast<std::uint32_t>(weight)};
  }
  void add_slowly(double value, std::int64_t weight);
  void start_sketch();
  void into_bucket(double value, std::int64_t weight);
  std::int64_t& bucket(int index);
  template <class Visit>
  void each_entry(Visit visit) const;
  [[nodiscard]] std::vector<double> exact_quantiles(const Moments& all, std::span<const double> levels) const;
  [[nodiscard]] double sketched_quantile(const Moments& all, std::int64_t rank) const;

  std::size_t entries_ = 0;  // of both
  Kept<PackedEntry> weighted_;
  Kept<double> singles_;  // values of weight 1
  bool sketching_ = false;
  int first_bucket_ = 0;
  std::vector<std::int64_t> buckets_;  // from first_bucket_ on
  std::int64_t zeros_ = 0;
};

// Both.
class Distribution {
 public:
  void add(double value, std::int64_t weight = 1);
  void merge(const Distribution& other);
  [[nodiscard]] const Moments& moments() const { return moments_; }
  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] std::int64_t count() const { return moments_.count(); }
  [[nodiscard]] bool exact() const { return values_.exact(); }
  [[nodiscard]] double mean() const { return moments_.mean(); }
  [[nodiscard]] double standard_deviation() const { return moments_.standard_deviation(); }
  [[nodiscard]] double sum() const { return moments_.sum(); }
  [[nodiscard]] double minimum() const { return moments_.minimum(); }
  [[nodiscard]] double maximum() const { return moments_.maximum(); }
  // The value at rank ceil(q n) (nearest rank), q in [0, 1]; 0 when empty.
  [[nodiscard]] double quantile(double q) const { return quantiles({&q, 1}).front(); }
  // The same for several levels, in ascending order, in one pass.
  [[nodiscard]] std::vector<double> quantiles(std::span<const double> levels) const {
    return values_.quantiles(moments_, levels);
  }
  // Share of the values that are at most `limit`.
  [[nodiscard]] double share_at_most(double limit) const { return values_.share_at_most(moments_, limit); }

 private:
  Moments moments_;
  Values values_;
};

// The value below which Student's t with `degrees` > 0 degrees of freedom lies with probability `level` in (0, 1), by
// Boost.Math. Throws std::domain_error for other arguments.
double student_t_quantile(double level, double degrees);

// Half-width of the 95 % confidence interval of the mean of `batches` batch means (Student's t); nothing below 2
// batches.
std::optional<double> confidence_half_width(std::span<const double> batch_means);

// Slope of y over x by least squares, with its standard error.
struct Slope {
  double slope = 0, standard_error = 0;
};
Slope slope(std::span<const double> x, std::span<const double> y);

}  // namespace llmscape
