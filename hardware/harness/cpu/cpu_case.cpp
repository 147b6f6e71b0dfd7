// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu/cpu_case.hpp"

#include "hardware/harness/cpu/clock.hpp"
#include "hardware/harness/cpu/machine.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware::harness {
namespace {

constexpr Seconds kShortestSample(50e-6);
constexpr double kMostRepeats = 1000;

}  // namespace

Seconds CpuCase::sample() {
  constexpr Seconds kTick(1e-9);
  const int runs = std::max(repeats_, 1);
  const Seconds before = thread_cpu_time();
  for (int i = 0; i < runs; ++i) run();
  const Seconds time = std::max((thread_cpu_time() - before - clock_cost()) / runs, kTick);
  if (repeats_ == 0) repeats_ = static_cast<int>(std::clamp(std::ceil(kShortestSample / time), 1.0, kMostRepeats));
  return time;
}

std::int64_t copies_beyond_caches(double bytes) {
  // Last-level caches do not replace the oldest line: of copies twice as large as one, a third is still found there.
  constexpr double kTimesLastCache = 10;
  static const double wanted = kTimesLastCache * last_cache().si();
  return std::max<std::int64_t>(1, std::llround(std::ceil(wanted / bytes)));
}

double CpuCase::tolerance() const {
  constexpr double kRounding = 0x1p-24;  // of one operation; errors of a sum add up like a random walk, or a bit worse
  return 32 * kRounding * std::sqrt(std::max(1.0, depth()));
}

std::vector<float> random_floats(std::int64_t count, RandomStream& random) {
  constexpr int kFromOneDraw = 4;  // 16 bits each
  std::vector<float> out(static_cast<std::size_t>(count));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % kFromOneDraw == 0) bits = random.bits();
    out[i] = static_cast<float>(static_cast<std::int16_t>(bits & 0xffffU)) * 0x1p-15F;
    bits >>= 16;
  }
  return out;
}

std::vector<std::int64_t> checked(std::int64_t count, RandomStream& random) {
  constexpr int kRandom = 30;
  std::vector<std::int64_t> out = {0, count - 1};
  for (int i = 0; i < kRandom; ++i) out.push_back(random.integer(0, count - 1));
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void Comparison::add(double got, double wanted) {
  largest_ = std::max(largest_, std::abs(wanted));
  const double difference = std::abs(got - wanted);
  largest_difference_ = std::isnan(difference) ? HUGE_VAL : std::max(largest_difference_, difference);
}

double Comparison::error() const { return largest_ > 0 ? largest_difference_ / largest_ : largest_difference_; }

}  // namespace llmscape::hardware::harness
