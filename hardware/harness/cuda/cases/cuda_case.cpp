// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cuda_case.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <numeric>

namespace llmscape::hardware::harness::cuda {
namespace {

// Enough launches in a sample that starting it costs little: this long, guessed with a GPU's rough rates, but no more
// buffers than kMostBytes.
constexpr double kSampleSeconds = 2e-4, kBytesPerSecond = 3e12, kFlopsPerSecond = 4e14, kLaunchSeconds = 3e-6;
constexpr double kMostBytes = 4e9, kMostCopies = 32;

}  // namespace

int CudaCase::copies_for(const Work& work) {
  const double guess = std::max(work.bytes / kBytesPerSecond, work.flops / kFlopsPerSecond) + kLaunchSeconds;
  const double most = std::min(kMostCopies, kMostBytes / std::max(work.bytes, 1.0));
  return static_cast<int>(std::max(1.0, std::min(most, std::ceil(kSampleSeconds / guess))));
}

Graph& CudaCase::graph() {
  if (!graph_) {
    launch(0);  // loads the kernels: while a graph is captured nothing should be loaded
    graph_.emplace(stream(), [this] {
      for (int copy = 0; copy < copies_; ++copy) launch(copy);
    });
  }
  return *graph_;
}

double CudaCase::error() {
  poison();
  launch(0);
  synchronise(stream());
  return compare();
}

Seconds CudaCase::sample() {
  Graph& launches = graph();
  machine_.flush_l2();
  stopwatch_.start(stream());
  launches.launch(stream());
  stopwatch_.stop(stream());
  return Seconds(stopwatch_.seconds() / copies_);
}

double CudaCase::run_steadily(Seconds duration) {
  Graph& launches = graph();
  const auto seconds_of = [&](int rounds) {
    stopwatch_.start(stream());
    for (int i = 0; i < rounds; ++i) launches.launch(stream());
    stopwatch_.stop(stream());
    return stopwatch_.seconds();
  };
  seconds_of(1);
  const int rounds = std::max(1, static_cast<int>(duration.si() / seconds_of(1)));
  return rounds * copies_ / seconds_of(rounds);
}

void poison_bytes(void* data, std::size_t bytes, Stream stream) {
  check(cudaMemsetAsync(data, 0xff, bytes, stream), "poisoning the output");
}

namespace {
// A whole number below `end`, number `index` of a sequence. Of all its bits: the 23 of uniform() would draw, of 2^28
// values, the first of four that a thread moves at once only.
std::int64_t drawn_below(std::int64_t end, std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::int64_t>(random_bits(seed, index) % static_cast<std::uint64_t>(end));
}
}  // namespace

std::vector<std::int64_t> drawn_indices(std::int64_t end, int count, std::uint64_t seed) {
  std::vector<std::int64_t> indices{0, end - 1};
  for (int i = 0; i < count; ++i) indices.push_back(drawn_below(end, seed, static_cast<std::uint64_t>(i)));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int i = count - 1; i > 0; --i) {
    const auto other = drawn_below(i + 1, seed, static_cast<std::uint64_t>(i));
    std::swap(numbers[static_cast<std::size_t>(i)], numbers[static_cast<std::size_t>(other)]);
  }
  return numbers;
}

}  // namespace llmscape::hardware::harness::cuda
