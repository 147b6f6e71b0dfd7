// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu/cpu_case.hpp"
#include "hardware/harness/cpu_kernels/linear.hpp"

namespace llmscape::hardware::harness {
namespace {

namespace kernels = cpu_kernels;

class Product final : public CpuCase {
 public:
  Product(const traces::GemmCase& shape, std::uint64_t seed)
      : shape_(shape), random_(seed), x_(random_floats(shape.m * shape.k, random_)),
        weights_(random_floats(shape.n * shape.k, random_)), y_(static_cast<std::size_t>(shape.m * shape.n)) {
    for (std::int64_t left = copies_beyond_caches(sizeof(float) * static_cast<double>(weights_.size())); left > 0;
         --left)
      copies_.emplace_back(shape.n, shape.k, weights_);
  }

  double error() override {
    run();
    Comparison comparison;
    for (const std::int64_t row : checked(shape_.m, random_)) {
      for (const std::int64_t column : checked(shape_.n, random_)) {
        const float* x = x_.data() + row * shape_.k;
        const float* w = weights_.data() + column * shape_.k;
        double sum = 0;
        for (std::int64_t i = 0; i < shape_.k; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(w[i]);
        comparison.add(static_cast<double>(y_[static_cast<std::size_t>(row * shape_.n + column)]), sum);
      }
    }
    weights_ = {};  // the packed ones are all that is needed from now on
    return comparison.error();
  }
  [[nodiscard]] double flops() const override { return 2 * static_cast<double>(shape_.m * shape_.n * shape_.k); }
  [[nodiscard]] double bytes() const override {
    return sizeof(float) * static_cast<double>(shape_.n * shape_.k + shape_.m * (shape_.n + shape_.k));
  }

 private:
  void run() override {
    copies_[next_].run(kernels::packed(std::span<const float>(x_), shape_.m), kernels::packed(std::span(y_), shape_.m));
    next_ = (next_ + 1) % copies_.size();
  }
  [[nodiscard]] double depth() const override { return static_cast<double>(shape_.k); }

  traces::GemmCase shape_;
  RandomStream random_;
  std::vector<float> x_, weights_;
  std::vector<float> y_;
  std::vector<kernels::Linear> copies_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<PreparedCase> prepare_cpu(const traces::GemmCase& what, std::uint64_t seed) {
  if (what.format != "fp32") return nullptr;
  return std::make_unique<Product>(what, seed);
}

}  // namespace llmscape::hardware::harness
