// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/rows_case.hpp"
#include "hardware/harness/cuda/kernels/sampling.hpp"

#include <algorithm>
#include <functional>

namespace llmscape::hardware::harness::cuda {
namespace {

using traces::ElementwiseCase;

constexpr float kLogits = 10;                // their amplitude
constexpr double kFloatExponentials = 1e-5;  // what exp and sums of many floats cost, relative

class Softmax final : public RowsCase<float, float> {
 public:
  Softmax(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : RowsCase(machine, what, {what.width, what.width, kLogits}, seed) {}
  [[nodiscard]] double tolerance() const override { return kFloatExponentials; }

 private:
  void launch(int copy) override { softmax(x_.at(copy), out_.at(copy), rows_, width_, stream()); }
  void compare_row(std::int64_t, const std::vector<float>& x, const std::vector<float>& out,
                   RelativeError& error) const override {
    const double largest = static_cast<double>(*std::ranges::max_element(x));
    double sum = 0;
    for (const float each : x) sum += std::exp(static_cast<double>(each) - largest);
    for (std::size_t i = 0; i < x.size(); ++i) {
      error.add(static_cast<double>(out[i]), std::exp(static_cast<double>(x[i]) - largest) / sum);
    }
  }
};

// By how much the chosen token's score is below the best one, among the tokens that may be chosen.
class Sampling final : public RowsCase<float, int> {
 public:
  Sampling(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : RowsCase(machine, what, {what.width, 1, kLogits}, seed) {}
  [[nodiscard]] double tolerance() const override { return kFloatExponentials; }

 private:
  void launch(int copy) override {
    cuda::sample(x_.at(copy), out_.at(copy), rows_, width_, top_k(), kTemperature, seed_, stream());
  }
  [[nodiscard]] int top_k() const { return std::min(50, width_); }
  void compare_row(std::int64_t row, const std::vector<float>& x, const std::vector<int>& out,
                   RelativeError& error) const override {
    auto sorted = x;
    std::ranges::nth_element(sorted, sorted.begin() + top_k() - 1, std::greater());
    const float lowest = sorted[static_cast<std::size_t>(top_k() - 1)];
    double best = -INFINITY, chosen = -INFINITY;
    for (int i = 0; i < width_; ++i) {
      const float logit = x[static_cast<std::size_t>(i)];
      if (logit < lowest) continue;
      const auto random = static_cast<double>(uniform(seed_, static_cast<std::uint64_t>(row * width_ + i)));
      const double score = static_cast<double>(logit) / static_cast<double>(kTemperature) - std::log(-std::log(random));
      best = std::max(best, score);
      if (i == out[0]) chosen = score;
    }
    error.add(chosen, best);
  }
  static constexpr float kTemperature = 0.8F;
};

class Router final : public RowsCase<Bf16, float> {
 public:
  Router(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : RowsCase(machine, what, {what.width, std::min<std::int64_t>(kTopK, what.width), 4}, seed),
        experts_(out_.elements(), 1) {}
  [[nodiscard]] double tolerance() const override { return kFloatExponentials; }

 private:
  void launch(int copy) override {
    route(x_.at(copy), experts_.at(0), out_.at(copy), rows_, width_, top_k(), stream());
  }
  [[nodiscard]] int top_k() const { return std::min(kTopK, width_); }
  void compare_row(std::int64_t row, const std::vector<Bf16>& x, const std::vector<float>& weights,
                   RelativeError& error) const override {
    auto sorted = x;  // equal logits: any of their experts will do, so the logits are compared, not the experts
    std::ranges::sort(sorted, std::greater(), number_of);
    const auto experts = row_of(experts_, row, top_k());
    double sum = 0;
    for (int i = 0; i < top_k(); ++i) sum += std::exp(number(sorted[static_cast<std::size_t>(i)]) - number(sorted[0]));
    for (std::size_t i = 0; i < experts.size(); ++i) {
      const double logit = number(sorted[i]);
      const bool is_expert = experts[i] >= 0 && experts[i] < width_;
      error.add(is_expert ? number(x[static_cast<std::size_t>(experts[i])]) : INFINITY, logit);
      error.add(static_cast<double>(weights[i]), std::exp(logit - number(sorted[0])) / sum);
    }
  }
  static double number_of(Bf16 x) { return number(x); }
  static constexpr int kTopK = 8;
  Buffers<int> experts_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_logits_case(Machine& machine, const ElementwiseCase& what, std::uint64_t seed) {
  constexpr int kMostExperts = 256;
  if (what.format == "fp32" && what.kind == "softmax") return std::make_unique<Softmax>(machine, what, seed);
  if (what.format == "fp32" && what.kind == "sampling") return std::make_unique<Sampling>(machine, what, seed);
  if (what.format == "bf16" && what.kind == "router" && what.width <= kMostExperts) {
    return std::make_unique<Router>(machine, what, seed);
  }
  return nullptr;
}

}  // namespace llmscape::hardware::harness::cuda
