// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/elementwise.hpp"

#include "hardware/harness/cpu/cpu_case.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace llmscape::hardware::harness {
namespace {

namespace kernels = cpu_kernels;
using kernels::Rows;

// A kernel that reads rows and writes rows.
class Elementwise : public CpuCase {
 public:
  double error() override {
    const std::vector<float> before = y_;
    run();
    Comparison comparison;
    for (const std::int64_t row : checked(rows_, random_)) compare(row, before, comparison);
    return comparison.error();
  }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double bytes() const override {
    return sizeof(float) * static_cast<double>(x_.size() + y_.size() + (in_place() ? y_.size() : 0));
  }

 protected:
  Elementwise(const traces::ElementwiseCase& what, std::int64_t read, std::int64_t written, std::uint64_t seed)
      : rows_(what.rows), width_(what.width), random_(seed), x_(random_floats(what.rows * read, random_)),
        y_(random_floats(what.rows * written, random_)) {}

  virtual void compare(std::int64_t row, const std::vector<float>& before, Comparison& comparison) const = 0;
  // The rows that are written are read before.
  [[nodiscard]] virtual bool in_place() const { return false; }
  [[nodiscard]] double depth() const override { return static_cast<double>(width_); }

  [[nodiscard]] Rows<const float> x() const { return kernels::packed(std::span(x_), rows_); }
  [[nodiscard]] Rows<float> y() { return kernels::packed(std::span(y_), rows_); }
  [[nodiscard]] double x(std::int64_t row, std::int64_t i) const {
    return static_cast<double>(x()[row][static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] double y(std::int64_t row, std::int64_t i) const { return of(y_, row, i); }
  [[nodiscard]] double of(const std::vector<float>& all, std::int64_t row, std::int64_t i) const {
    return static_cast<double>(kernels::packed(std::span(all), rows_)[row][static_cast<std::size_t>(i)]);
  }

  std::int64_t rows_, width_;
  RandomStream random_;
  std::vector<float> x_, y_;
};

class Norm final : public Elementwise {
 public:
  Norm(const traces::ElementwiseCase& what, std::uint64_t seed)
      : Elementwise(what, what.width, what.width, seed), weight_(random_floats(what.width, random_)) {}

 private:
  void run() override { kernels::rms_norm(x(), weight_, y(), kEpsilon); }
  void compare(std::int64_t row, const std::vector<float>&, Comparison& comparison) const override {
    double squares = 0;
    for (std::int64_t i = 0; i < width_; ++i) squares += x(row, i) * x(row, i);
    const double root = std::sqrt(squares / static_cast<double>(width_) + static_cast<double>(kEpsilon));
    for (std::int64_t i = 0; i < width_; ++i)
      comparison.add(y(row, i), x(row, i) / root * static_cast<double>(weight_[static_cast<std::size_t>(i)]));
  }
  static constexpr float kEpsilon = 1e-5F;
  std::vector<float> weight_;
};

class Rope final : public Elementwise {
 public:
  Rope(const traces::ElementwiseCase& what, std::uint64_t seed)
      : Elementwise(what, 0, what.width, seed), table_(kPositions, kHeadDim, kBase) {
    for (std::int64_t row = 0; row < rows_; ++row) positions_.push_back(random_.integer(0, kPositions - 1));
  }

 private:
  void run() override { kernels::rope(y(), positions_, table_); }
  [[nodiscard]] bool in_place() const override { return true; }
  void compare(std::int64_t row, const std::vector<float>& before, Comparison& comparison) const override {
    const auto position = static_cast<double>(positions_[static_cast<std::size_t>(row)]);
    constexpr std::int64_t kHalf = kHeadDim / 2;
    for (std::int64_t head = 0; head < width_; head += kHeadDim) {
      for (std::int64_t i = 0; i < kHalf; ++i) {
        const double angle = position * std::pow(kBase, -static_cast<double>(i) / kHalf);
        const double low = of(before, row, head + i), high = of(before, row, head + i + kHalf);
        comparison.add(y(row, head + i), low * std::cos(angle) - high * std::sin(angle));
        comparison.add(y(row, head + i + kHalf), high * std::cos(angle) + low * std::sin(angle));
      }
    }
  }
  static constexpr std::int64_t kPositions = 4096, kHeadDim = 64;
  static constexpr double kBase = 10000;
  kernels::RopeTable table_;
  std::vector<std::int64_t> positions_;
};

class Activation final : public Elementwise {
 public:
  Activation(const traces::ElementwiseCase& what, std::uint64_t seed)
      : Elementwise(what, 2 * what.width, what.width, seed) {}

 private:
  void run() override { kernels::silu_mul(x(), y()); }
  void compare(std::int64_t row, const std::vector<float>&, Comparison& comparison) const override {
    for (std::int64_t i = 0; i < width_; ++i)
      comparison.add(y(row, i), x(row, i) / (1 + std::exp(-x(row, i))) * x(row, width_ + i));
  }
};

class Add final : public Elementwise {
 public:
  Add(const traces::ElementwiseCase& what, std::uint64_t seed) : Elementwise(what, what.width, what.width, seed) {}

 private:
  void run() override { kernels::add(x(), y()); }
  [[nodiscard]] bool in_place() const override { return true; }
  void compare(std::int64_t row, const std::vector<float>& before, Comparison& comparison) const override {
    for (std::int64_t i = 0; i < width_; ++i) comparison.add(y(row, i), of(before, row, i) + x(row, i));
  }
};

// Rows of a table larger than the caches, other ones in each run.
class Embedding final : public Elementwise {
 public:
  Embedding(const traces::ElementwiseCase& what, std::uint64_t seed)
      : Elementwise(what, 0, what.width, seed),
        vocabulary_(what.rows * copies_beyond_caches(sizeof(float) * static_cast<double>(what.rows * what.width))),
        table_(random_floats(vocabulary_ * what.width, random_)), tokens_(static_cast<std::size_t>(vocabulary_)) {
    std::iota(tokens_.begin(), tokens_.end(), 0);
    for (std::size_t i = tokens_.size(); i > 1; --i) std::swap(tokens_[i - 1], tokens_[random_.below(i)]);
  }
  [[nodiscard]] double bytes() const override { return 2 * sizeof(float) * static_cast<double>(rows_ * width_); }

 private:
  void run() override {
    first_ = (first_ + static_cast<std::size_t>(rows_)) % tokens_.size();
    kernels::embedding(kernels::packed(std::span<const float>(table_), vocabulary_),
                       std::span(tokens_).subspan(first_, static_cast<std::size_t>(rows_)), y());
  }
  void compare(std::int64_t row, const std::vector<float>&, Comparison& comparison) const override {
    const std::int32_t token = tokens_[first_ + static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < width_; ++i)
      comparison.add(y(row, i), static_cast<double>(table_[static_cast<std::size_t>(token * width_ + i)]));
  }
  std::int64_t vocabulary_;
  std::vector<float> table_;
  std::vector<std::int32_t> tokens_;
  std::size_t first_ = 0;
};

class Sampling final : public Elementwise {
 public:
  Sampling(const traces::ElementwiseCase& what, std::uint64_t seed)
      : Elementwise(what, what.width, 0, seed), tokens_(static_cast<std::size_t>(what.rows)) {}

 private:
  void run() override { kernels::argmax(x(), tokens_); }
  void compare(std::int64_t row, const std::vector<float>&, Comparison& comparison) const override {
    const auto logits = x()[row];
    comparison.add(tokens_[static_cast<std::size_t>(row)],
                   static_cast<double>(std::ranges::max_element(logits) - logits.begin()));
  }
  std::vector<std::int32_t> tokens_;
};

}  // namespace

std::unique_ptr<PreparedCase> prepare_cpu(const traces::ElementwiseCase& what, std::uint64_t seed) {
  if (what.format != "fp32") return nullptr;
  if (what.kind == "norm") return std::make_unique<Norm>(what, seed);
  if (what.kind == "rope") return what.width % 64 == 0 ? std::make_unique<Rope>(what, seed) : nullptr;
  if (what.kind == "activation") return std::make_unique<Activation>(what, seed);
  if (what.kind == "add") return std::make_unique<Add>(what, seed);
  if (what.kind == "embedding") return std::make_unique<Embedding>(what, seed);
  if (what.kind == "sampling") return std::make_unique<Sampling>(what, seed);
  return nullptr;
}

}  // namespace llmscape::hardware::harness
