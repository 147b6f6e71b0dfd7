// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace llmscape {

// The block function: 128 random bits of a counter and a key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// A counter-based stream of random numbers (Philox4x32-10; Salmon et al., SC'11): the n-th draw is a pure function of
// the key and n, so a new consumer disturbs no other. The same numbers on every platform; distributions are our own
// because the standard library's differ between implementations.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t key) : key_(key) {}

  std::uint64_t bits();                                       // 64 uniform bits
  double uniform();                                           // in (0, 1), never the ends
  std::uint64_t below(std::uint64_t n);                       // in [0, n), unbiased; n >= 1
  std::int64_t integer(std::int64_t low, std::int64_t high);  // both ends included
  double exponential(double mean);
  double normal();                           // standard
  double gamma(double shape, double scale);  // Marsaglia and Tsang 2000; shape > 0
  double weibull(double shape, double scale);
  double log_normal(double log_mean, double log_sd);  // parameters of the logarithm
  double pareto(double minimum, double shape);
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  std::uint64_t spare_ = 0;
  bool has_spare_ = false;
};

// Ranks 1..n with probability proportional to 1 / rank^exponent; draws 0-based ranks in O(log n).
class Zipf {
 public:
  Zipf(std::int64_t n, double exponent);
  std::int64_t draw(RandomStream&) const;

 private:
  std::vector<double> cumulative_;
};

// Draws from observed values with weights (equal if empty), in O(log n).
class Empirical {
 public:
  explicit Empirical(std::vector<double> values, std::vector<double> weights = {});
  double draw(RandomStream&) const;
  [[nodiscard]] double mean() const;

 private:
  std::vector<double> values_, cumulative_;
};

// All streams of a run. A stream is named by its consumer's kind and position ("workload/0/lengths"), never by a user's
// name for it, so renaming changes nothing.
class RandomStreams {
 public:
  explicit RandomStreams(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] RandomStream stream(std::string_view name, std::uint64_t index = 0) const;
  // Streams below a name: child("workload", 2).stream("lengths").
  [[nodiscard]] RandomStreams child(std::string_view name, std::uint64_t index = 0) const;

 private:
  std::uint64_t seed_;
};

}  // namespace llmscape
