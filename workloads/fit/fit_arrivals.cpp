// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit_arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace llmscape::workloads {
namespace {

constexpr double kHighestVariance = 25;  // of a drift's levels: cv 5
constexpr double kPriceOfDrift = 6;      // least fall of the sum of squares that a drift has to bring
constexpr double kModelError = 0.05;     // relative: no recording is the form to the last digit

// A Fano factor seen, with what it is worth.
struct Seen {
  double window, fano, weight;
  double windows;  // how many
};

std::vector<Seen> seen_in(const std::vector<double>& arrivals, double duration) {
  std::vector<Seen> out;
  for (double window : {0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 240.0, 480.0, 1'000.0, 2'000.0, 4'000.0,
                        8'000.0, 16'000.0, 32'000.0, 64'000.0}) {
    if (window > std::max(duration / 8, 1.0)) break;
    const auto fano = fano_of(arrivals, duration, window);
    if (!fano || *fano <= 0) continue;
    const double windows = std::floor(duration / window);
    // Variance of a variance of n normal counts, relative: 2 / n. Bursts are felt in their whole number.
    out.push_back({window, *fano, 1 / (2 / windows + kModelError * kModelError), windows});
  }
  return out;
}

// What one exponential of a drift adds to the Fano factors seen, per unit of its variance. A recording counts windows
// around its own mean: of F(w) it shows F(w) - F(n w) / n.
std::vector<double> part_of(double time, double rate, const std::vector<Seen>& seen) {
  std::vector<double> out;
  for (const Seen& s : seen)
    out.push_back(rate * (fano_of_drift(time, s.window) - fano_of_drift(time, s.window * s.windows) / s.windows));
  return out;
}

// Relative to the Fano factors seen, so that those of all windows count alike.
double misfit(const std::vector<Seen>& seen, const std::vector<double>& predicted) {
  double sum = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double error = std::log(std::max(predicted[i], 1e-3) / seen[i].fano);
    sum += seen[i].weight * error * error;
  }
  return sum;
}

struct Candidate {
  std::vector<Drift> drifts;
  double misfit = 0;
};

class DriftSearch {
 public:
  DriftSearch(double rate, double duration, std::vector<Seen> seen) : rate_(rate), seen_(std::move(seen)) {
    for (double time = std::max(0.05, 1e-3 / rate); time <= duration / 2; time *= 1.5) {
      times_.push_back(time);
      parts_.push_back(part_of(time, rate, seen_));
    }
    for (const Seen& s : seen_) poisson_.push_back(1 - 1 / s.windows);
  }

  [[nodiscard]] Candidate best() const {
    Candidate none{{}, misfit(seen_, poisson_)}, one = none, two = none;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const double variance = best_variance(parts_[i], poisson_);
      consider(one, {{i, variance}});
      for (std::size_t j = i + 1; j < times_.size(); ++j) pair(two, i, j);
    }
    if (two.misfit + 2 * kPriceOfDrift < std::min(none.misfit, one.misfit + kPriceOfDrift)) return two;
    return one.misfit + kPriceOfDrift < none.misfit ? one : none;
  }

 private:
  struct Part {
    std::size_t time;
    double variance;
  };

  // The variance whose sum base + variance * part is nearest to what was seen, relative to it.
  [[nodiscard]] double best_variance(const std::vector<double>& part, const std::vector<double>& base) const {
    double above = 0, below = 0;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const double p = part[i] / seen_[i].fano, rest = (seen_[i].fano - base[i]) / seen_[i].fano;
      above += seen_[i].weight * p * rest;
      below += seen_[i].weight * p * p;
    }
    return below > 0 ? std::clamp(above / below, 0.0, kHighestVariance) : 0;
  }

  void pair(Candidate& best, std::size_t i, std::size_t j) const {
    const std::vector<double> both =
        part_of(1 / (1 / times_[i] + 1 / times_[j]), rate_, seen_);  // where both levels hold
    double slow = 0, fast = 0;
    for (int round = 0; round < 12; ++round) {
      slow = variance_beside(parts_[j], parts_[i], both, fast);
      fast = variance_beside(parts_[i], parts_[j], both, slow);
    }
    consider(best, {{i, fast}, {j, slow}}, both);
  }

  // Of one drift, where the other has a variance already.
  [[nodiscard]] double variance_beside(const std::vector<double>& own, const std::vector<double>& other,
                                       const std::vector<double>& both, double variance) const {
    std::vector<double> part = own, base = poisson_;
    for (std::size_t k = 0; k < part.size(); ++k) {
      part[k] += variance * both[k];
      base[k] += variance * other[k];
    }
    return best_variance(part, base);
  }

  void consider(Candidate& best, const std::vector<Part>& parts, const std::vector<double>& both = {}) const {
    std::vector<double> predicted = poisson_;
    double product = 1;
    for (const Part& part : parts) {
      if (part.variance < 1e-6) return;  // no drift
      product *= part.variance;
      for (std::size_t k = 0; k < predicted.size(); ++k) predicted[k] += part.variance * parts_[part.time][k];
    }
    for (std::size_t k = 0; k < both.size(); ++k) predicted[k] += product * both[k];
    const double found = misfit(seen_, predicted);
    if (found >= best.misfit) return;
    best = {{}, found};
    for (const Part& part : parts) best.drifts.push_back({std::sqrt(part.variance), Seconds(times_[part.time])});
  }

  double rate_;
  std::vector<Seen> seen_;
  std::vector<double> times_, poisson_;
  std::vector<std::vector<double>> parts_;  // of each time
};

// The last decimal, in seconds, that the times are written to; a millionth where more are.
double decimal_of(const std::vector<double>& times) {
  for (const double decimals : {1.0, 10.0, 1e2, 1e3, 1e4, 1e5}) {
    const auto whole = [decimals](double at) { return std::abs(at * decimals - std::round(at * decimals)) < 1e-3; };
    if (std::ranges::all_of(times, whole)) return 1 / decimals;
  }
  return 1e-6;
}

// Whether each time stands where equal gaps put it, as far as its decimals tell; coarse ones tell nothing of a gap.
bool equally_far(const std::vector<double>& times, double gap) {
  const double decimal = decimal_of(times), within = decimal < gap / 10 ? decimal : 1e-6 * gap;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (std::abs(times[i] - times.front() - static_cast<double>(i) * gap) > within) return false;
  return true;
}

// The cv of so many exponential gaps, by their own mean, that one recording in 741 stays below (0.00135, three standard
// errors of a normal law). Simulated, 3,000,000 recordings up to 50 gaps and 150 million gaps in all above; linear in
// the root of 1 / count between. Of many gaps, the cv's standard error is that root.
double least_cv_by_chance(std::size_t gaps) {
  struct Point {
    double gaps, cv;
  };
  constexpr Point kPoints[] = {{2, 0.0014},  {3, 0.0336},   {4, 0.0941},   {5, 0.1590},    {6, 0.2162},
                               {8, 0.3019},  {10, 0.3657},  {15, 0.4606},  {20, 0.5191},   {30, 0.5914},
                               {50, 0.6690}, {100, 0.7525}, {300, 0.8468}, {1000, 0.9123}, {3000, 0.9472}};
  const auto count = static_cast<double>(gaps);
  if (count < kPoints[0].gaps) return 0;
  const auto root = [](double n) { return 1 / std::sqrt(n); };
  const Point* right = std::ranges::upper_bound(kPoints, count, {}, &Point::gaps);
  if (right == std::end(kPoints))
    return 1 - (1 - std::rbegin(kPoints)->cv) * std::sqrt(std::rbegin(kPoints)->gaps / count);
  const Point* left = right - 1;
  const double share = (root(count) - root(left->gaps)) / (root(right->gaps) - root(left->gaps));
  return left->cv + share * (right->cv - left->cv);
}

std::shared_ptr<const Arrivals> law_of(const char* kind, double rate, const std::optional<double>& cv = {}) {
  YamlNode law;
  law.set("kind", YamlNode::scalar(kind));
  law.set("rate", YamlNode::scalar(fmt::format("{} /s", rate)));
  if (cv) law.set("cv", YamlNode::scalar(fmt::format("{}", *cv)));
  Diagnostics diagnostics;
  return arrivals().read(law, diagnostics);
}

}  // namespace

std::optional<double> fano_of(const std::vector<double>& arrivals, double duration, double window) {
  const auto windows = static_cast<std::int64_t>(std::floor(duration / window * (1 + 1e-12)));
  if (windows < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < arrivals.size();) {
    const auto at = static_cast<std::int64_t>(arrivals[i] / window);
    if (at >= windows) break;
    double count = 0;
    for (; i < arrivals.size() && static_cast<std::int64_t>(arrivals[i] / window) == at; ++i) ++count;
    sum += count;
    squares += count * count;
  }
  if (sum == 0) return std::nullopt;
  const double mean = sum / static_cast<double>(windows);
  return (squares / static_cast<double>(windows) - mean * mean) / mean;
}

DriftingArrivals fit_drifts(const std::vector<double>& arrivals, double duration) {
  DriftingArrivals out;
  const double rate = static_cast<double>(arrivals.size()) / duration;
  out.rate = PerSecond(rate);
  out.drifts = DriftSearch(rate, duration, seen_in(arrivals, duration)).best().drifts;
  return out;
}

std::shared_ptr<const Arrivals> fit_arrivals(const std::vector<double>& times, double duration) {
  const auto gaps = static_cast<double>(times.size() - 1);
  const double mean = (times.back() - times.front()) / gaps;
  // A drift explains a variance that is there: equal gaps have none. Two are equal by chance.
  if (times.size() > 3 && equally_far(times, mean)) return law_of("periodic", 1 / mean);
  DriftingArrivals drifting = fit_drifts(times, duration);
  drifting.rate = PerSecond(1 / mean);
  if (drifting.drifts.empty()) {
    double squares = 0;
    for (std::size_t i = 1; i < times.size(); ++i) squares += (times[i] - times[i - 1]) * (times[i] - times[i - 1]);
    const double cv = std::sqrt(std::max(0.0, squares / gaps - mean * mean)) / mean;
    if (cv > 0 && cv < least_cv_by_chance(times.size() - 1)) return law_of("gamma", 1 / mean, cv);
  }
  return std::make_shared<const DriftingArrivals>(drifting);
}

}  // namespace llmscape::workloads
