// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/samples.hpp"

#include "hardware/harness/backend.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware::harness {
namespace {

constexpr double kWarmUp = 50e-3, kSampling = 30e-3, kNoise = 0.05;
constexpr std::size_t kWarmUpRuns = 3, kSamples = 20, kSlowSamples = 5, kMostSamples = 1000;

double quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

traces::SampleSummary summarise_samples(std::vector<double> samples) {
  std::ranges::sort(samples);
  return {static_cast<std::int64_t>(samples.size()),
          samples.front(),
          quantile(samples, 0.1),
          quantile(samples, 0.5),
          quantile(samples, 0.9),
          quantile(samples, 0.75) - quantile(samples, 0.25)};
}

std::vector<double> timed_samples(PreparedCase& prepared) {
  double warming = 0;
  for (std::size_t runs = 0; runs < kWarmUpRuns || (warming < kWarmUp && runs < kMostSamples); ++runs)
    warming += prepared.sample().si();
  std::vector<double> samples;
  for (double sampling = 0; samples.size() < kMostSamples;) {
    samples.push_back(prepared.sample().si());
    sampling += samples.back();
    if (sampling >= kSampling && samples.size() >= (sampling >= 2 * kSampling ? kSlowSamples : kSamples)) break;
  }
  return samples;
}

bool is_noisy(const traces::SampleSummary& summary) { return summary.iqr > kNoise * summary.median; }

}  // namespace llmscape::hardware::harness
