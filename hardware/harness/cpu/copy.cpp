// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/copy.hpp"

#include "hardware/harness/cpu/cpu_case.hpp"

#include <numeric>

namespace llmscape::hardware::harness {
namespace {

namespace kernels = cpu_kernels;

class Copy : public CpuCase {
 public:
  double error() override {
    run();
    Comparison comparison;
    for (const std::int64_t i : checked(static_cast<std::int64_t>(to_.size()), random_))
      comparison.add(static_cast<double>(to_[static_cast<std::size_t>(i)]), wanted(static_cast<std::size_t>(i)));
    return comparison.error();
  }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double bytes() const override { return 2 * sizeof(float) * static_cast<double>(to_.size()); }

 protected:
  Copy(const traces::CopyCase& what, std::uint64_t seed)
      : random_(seed), from_(random_floats(what.bytes / static_cast<std::int64_t>(sizeof(float)), random_)),
        to_(from_.size()) {}

  // What `to_` holds at i after a run.
  [[nodiscard]] virtual double wanted(std::size_t i) const = 0;
  [[nodiscard]] double depth() const override { return 1; }

  RandomStream random_;
  std::vector<float> from_, to_;
};

class PlainCopy final : public Copy {
 public:
  PlainCopy(const traces::CopyCase& what, std::uint64_t seed) : Copy(what, seed) {}

 private:
  void run() override { kernels::copy(from_, to_); }
  [[nodiscard]] double wanted(std::size_t i) const override { return static_cast<double>(from_[i]); }
};

class Triad final : public Copy {
 public:
  Triad(const traces::CopyCase& what, std::uint64_t seed)
      : Copy(what, seed), scaled_(random_floats(static_cast<std::int64_t>(to_.size()), random_)) {}
  [[nodiscard]] double flops() const override { return 2 * static_cast<double>(to_.size()); }
  [[nodiscard]] double bytes() const override { return 3 * sizeof(float) * static_cast<double>(to_.size()); }

 private:
  void run() override { kernels::triad(from_, scaled_, kScale, to_); }
  [[nodiscard]] double wanted(std::size_t i) const override {
    return static_cast<double>(from_[i]) + static_cast<double>(kScale) * static_cast<double>(scaled_[i]);
  }

  static constexpr float kScale = 3;
  std::vector<float> scaled_;
};

class Gather final : public Copy {
 public:
  Gather(const traces::CopyCase& what, std::uint64_t seed)
      : Copy(what, seed), block_(static_cast<std::size_t>(what.block) / sizeof(float)), blocks_(from_.size() / block_) {
    to_.resize(blocks_.size() * block_);
    std::iota(blocks_.begin(), blocks_.end(), 0);
    for (std::size_t i = blocks_.size(); i > 1; --i) std::swap(blocks_[i - 1], blocks_[random_.below(i)]);
  }

 private:
  void run() override { kernels::gather(from_, blocks_, block_, to_); }
  [[nodiscard]] double wanted(std::size_t i) const override {
    return static_cast<double>(from_[static_cast<std::size_t>(blocks_[i / block_]) * block_ + i % block_]);
  }
  std::size_t block_;
  std::vector<std::int32_t> blocks_;
};

}  // namespace

std::unique_ptr<PreparedCase> prepare_cpu(const traces::CopyCase& what, std::uint64_t seed) {
  if (what.kind == "device") return std::make_unique<PlainCopy>(what, seed);
  if (what.kind == "triad") return std::make_unique<Triad>(what, seed);
  if (what.kind == "kv_gather" && what.block >= 64 && what.block <= what.bytes)
    return std::make_unique<Gather>(what, seed);
  return nullptr;
}

}  // namespace llmscape::hardware::harness
