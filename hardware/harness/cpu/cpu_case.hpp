// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/random.hpp"
#include "hardware/harness/backend.hpp"
#include "hardware/harness/cpu_kernels/rows.hpp"

#include <memory>
#include <span>
#include <vector>

namespace llmscape::hardware::harness {

// A CPU kernel with its buffers. What it reads from memory in serving (weights, keys and values) it has several times,
// and takes the next copy in each run: together they are larger than the caches, so that each finds the caches full of
// other copies, as a layer finds them full of other layers. What the kernel before has just written stays where it is.
class CpuCase : public PreparedCase {
 public:
  Seconds sample() final;
  [[nodiscard]] double tolerance() const override;

 protected:
  virtual void run() = 0;
  // Terms of the longest sum in the kernel.
  [[nodiscard]] virtual double depth() const = 0;

 private:
  int repeats_ = 0;  // runs in a sample, so that the clock's own time does not matter; 0: not known yet
};

// How many copies of so many bytes leave nothing of themselves in the last cache.
std::int64_t copies_beyond_caches(double bytes);

// Uniform in [-1, 1).
std::vector<float> random_floats(std::int64_t count, RandomStream& random);

// Rows or columns to check: first, last and some at random.
std::vector<std::int64_t> checked(std::int64_t count, RandomStream& random);

// The largest difference between what a kernel wrote and what it should have, and the largest of the latter.
class Comparison {
 public:
  void add(double got, double wanted);
  [[nodiscard]] double error() const;

 private:
  double largest_difference_ = 0, largest_ = 0;
};

// Each makes a case, or nothing if the CPU backend has no such kernel.
std::unique_ptr<PreparedCase> prepare_cpu(const traces::GemmCase& what, std::uint64_t seed);
std::unique_ptr<PreparedCase> prepare_cpu(const traces::DecodeAttentionCase& what, std::uint64_t seed);
std::unique_ptr<PreparedCase> prepare_cpu(const traces::PrefillAttentionCase& what, std::uint64_t seed);
std::unique_ptr<PreparedCase> prepare_cpu(const traces::ElementwiseCase& what, std::uint64_t seed);
std::unique_ptr<PreparedCase> prepare_cpu(const traces::CopyCase& what, std::uint64_t seed);

}  // namespace llmscape::hardware::harness
