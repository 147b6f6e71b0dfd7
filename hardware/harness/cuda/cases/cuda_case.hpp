// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/backend.hpp"
#include "hardware/harness/cuda/kernels/memory.hpp"
#include "hardware/harness/cuda/machine.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace llmscape::hardware::harness::cuda {

// Operations and bytes of one launch, by formula.
struct Work {
  double flops = 0, bytes = 0;
};

// A kernel with `copies` sets of its buffers. A sample is one graph that launches it on each set in turn, after the L2
// was flushed: every launch finds its data in memory, as in serving, and those of short kernels share the cost of
// starting the graph.
class CudaCase : public PreparedCase {
 public:
  double error() final;
  Seconds sample() override;
  [[nodiscard]] double flops() const final { return work_.flops; }
  [[nodiscard]] double bytes() const final { return work_.bytes; }
  // How many sets of buffers a case with such launches has.
  static int copies_for(const Work& work);
  // Launches without pause for about as long and returns the launches per second.
  double run_steadily(Seconds duration);

 protected:
  CudaCase(Machine& machine, const Work& work) : machine_(machine), work_(work), copies_(copies_for(work)) {}
  CudaCase(Machine& machine, const Work& work, int copies) : machine_(machine), work_(work), copies_(copies) {}

  // One launch on set `copy` into the machine's stream.
  virtual void launch(int copy) = 0;
  // The largest difference relative to the largest magnitude of the reference, after launch(0) has run on an output
  // that was poisoned; infinite where an element was not written.
  virtual double compare() = 0;
  // Sets the output of launch(0) to what no kernel writes.
  virtual void poison() = 0;

  [[nodiscard]] int copies() const { return copies_; }
  [[nodiscard]] Stream stream() const { return machine_.stream; }
  Machine& machine_;

 private:
  Graph& graph();

  Work work_;
  int copies_;
  std::optional<Graph> graph_;
  Stopwatch stopwatch_;
};

// `copies` buffers of `elements` each, one behind the other, every one aligned to 256 bytes.
template <class T>
class Buffers {
 public:
  Buffers(std::size_t elements, int copies)
      : elements_(elements), stride_((elements + kAlign - 1) / kAlign * kAlign),
        data_(stride_ * static_cast<std::size_t>(copies)) {}

  [[nodiscard]] T* at(int copy) const { return data_.data() + stride_ * static_cast<std::size_t>(copy); }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  void fill(float amplitude, std::uint64_t seed, Stream stream) {
    fill_random(data_.data(), data_.size(), amplitude, seed, stream);
  }
  // Elements of set 0.
  [[nodiscard]] std::vector<T> download(std::size_t first, std::size_t count) const {
    return data_.download(first, count);
  }
  [[nodiscard]] std::vector<T> download() const { return download(0, elements_); }

 private:
  static constexpr std::size_t kAlign = 256;
  std::size_t elements_, stride_;
  DeviceArray<T> data_;
};

// Sets `elements` to bytes of 0xff.
void poison_bytes(void* data, std::size_t bytes, Stream stream);

// The largest difference between what a kernel wrote and what it should have, relative to the largest of the latter.
class RelativeError {
 public:
  void add(double got, double wanted) {
    const double difference = std::abs(got - wanted);
    if (!(difference <= largest_difference_)) largest_difference_ = std::isnan(difference) ? INFINITY : difference;
    largest_ = std::max(largest_, std::abs(wanted));
  }
  [[nodiscard]] double value() const {
    return largest_difference_ == 0 ? 0 : largest_ > 0 ? largest_difference_ / largest_ : INFINITY;
  }

 private:
  double largest_difference_ = 0, largest_ = 0;
};

// Indices to check: the first, the last and `count` at random, below `end`.
std::vector<std::int64_t> drawn_indices(std::int64_t end, int count, std::uint64_t seed);

// 0 to count - 1 in random order.
std::vector<int> shuffled(int count, std::uint64_t seed);

// Half a unit in the last place of bf16's 8 bits, relative: what rounding an exact result costs.
inline constexpr double kBf16Rounding = 0x1p-9;

}  // namespace llmscape::hardware::harness::cuda
