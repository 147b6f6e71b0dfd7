// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/sampling.hpp"
#include "hardware/harness/cuda/kernels/top_bits.hpp"
#include "hardware/harness/cuda/kernels/vectors.cuh"

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr int kThreads = 1024;  // of the block that goes over one row
constexpr float kLowest = -INFINITY;

// A logit, or a logit with its noise, and where it stands.
struct Candidate {
  float score;
  int index;
};
constexpr Candidate kNone{kLowest, 0x7fffffff};
__device__ Candidate better(Candidate a, Candidate b) {
  const bool second = b.score > a.score || (b.score == a.score && b.index < a.index);
  return second ? b : a;
}
__device__ Candidate best_of_warp(Candidate mine) {
  for (int mask = 16; mask > 0; mask /= 2) {
    mine =
        better(mine, {__shfl_xor_sync(0xffffffffU, mine.score, mask), __shfl_xor_sync(0xffffffffU, mine.index, mask)});
  }
  return mine;
}
// Thread 0 alone gets the answer.
__device__ Candidate best_of_block(Candidate mine) {
  __shared__ Candidate of_warp[32];
  mine = best_of_warp(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) mine = better(mine, of_warp[warp]);
  }
  return mine;
}

__device__ __forceinline__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Calls visit(column, logit) for every element of the row that is this thread's.
template <class Visit>
__device__ __forceinline__ void over_row(const float* row, int width, Visit visit) {
#pragma unroll 2
  for (int i = threadIdx.x * 4; i < width; i += blockDim.x * 4) {
    const float4 v = load4(row + i);
    visit(i, v.x);
    visit(i + 1, v.y);
    visit(i + 2, v.z);
    visit(i + 3, v.w);
  }
}
template <class Visit>
__device__ __forceinline__ void over_row(const Bf16* row, int width, Visit visit) {
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Floats8 v = load8(row + i);
#pragma unroll
    for (int j = 0; j < kLanes; ++j) visit(i + j, v.at[j]);
  }
}

__global__ void __launch_bounds__(kThreads) softmax_kernel(const float* logits, float* out, int width) {
  const float* row = logits + static_cast<long>(blockIdx.x) * width;
  float* to = out + static_cast<long>(blockIdx.x) * width;
  float largest = kLowest, sum = 0;
  over_row(row, width, [&](int, float logit) { largest = fmaxf(largest, logit); });
  largest = max_over_block(largest);
  over_row(row, width, [&](int, float logit) { sum += __expf(logit - largest); });
  const float factor = 1 / sum_over_block(sum);
  for (int i = threadIdx.x * 4; i < width; i += blockDim.x * 4) {
    const float4 v = load4(row + i);
    *reinterpret_cast<float4*>(to + i) = {__expf(v.x - largest) * factor, __expf(v.y - largest) * factor,
                                          __expf(v.z - largest) * factor, __expf(v.w - largest) * factor};
  }
}

__global__ void argmax_kernel(const Bf16* logits, int* tokens, int width) {
  Candidate mine = kNone;
  over_row(logits + static_cast<long>(blockIdx.x) * width, width,
           [&](int column, float logit) { mine = better(mine, {logit, column}); });
  mine = best_of_block(mine);
  if (threadIdx.x == 0) tokens[blockIdx.x] = mine.index;
}

// The key of the top_k-th largest logit of the row.
__device__ std::uint32_t find_threshold(const float* row, int width, int top_k) {
  __shared__ int count[kDigits];
  __shared__ Threshold known;
  if (threadIdx.x == 0) known = {0, top_k};
  for (int shift = kKeyBits - kDigitBits; shift >= 0; shift -= kDigitBits) {
    for (unsigned i = threadIdx.x; i < kDigits; i += blockDim.x) count[i] = 0;
    __syncthreads();
    over_row(row, width, [&](int, float logit) {
      const std::uint32_t key = ordered_key(logit);
      if (agrees(key, known, shift)) atomicAdd(&count[digit(key, shift)], 1);
    });
    __syncthreads();
    if (threadIdx.x == 0) known = narrow(known, count, shift);
    __syncthreads();
  }
  return known.key;
}

__global__ void __launch_bounds__(kThreads)
    sample_kernel(const float* logits, int* tokens, int width, int top_k, float temperature, std::uint64_t seed) {
  const long first = static_cast<long>(blockIdx.x) * width;
  const std::uint32_t lowest = find_threshold(logits + first, width, top_k);
  Candidate mine = kNone;
  over_row(logits + first, width, [&](int column, float logit) {
    if (ordered_key(logit) < lowest) return;
    const float noise = -logf(-logf(uniform(seed, static_cast<std::uint64_t>(first + column))));
    mine = better(mine, {logit / temperature + noise, column});
  });
  mine = best_of_block(mine);
  if (threadIdx.x == 0) tokens[blockIdx.x] = mine.index;
}

constexpr int kExpertsPerLane = 8;

// One warp a row: takes the largest, top_k times.
__global__ void route_kernel(const Bf16* logits, int* experts, float* weights, int rows, int width, int top_k) {
  const int row = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
  if (row >= rows) return;
  float mine[kExpertsPerLane];
#pragma unroll
  for (int j = 0; j < kExpertsPerLane; ++j) {
    const int expert = lane + 32 * j;
    mine[j] = expert < width ? to_float(logits[static_cast<long>(row) * width + expert]) : kLowest;
  }
  float sum = 0, first = 0, my_share = 0;
  for (int rank = 0; rank < top_k; ++rank) {
    Candidate best = kNone;
#pragma unroll
    for (int j = 0; j < kExpertsPerLane; ++j) best = better(best, {mine[j], lane + 32 * j});
    best = best_of_warp(best);
    if (rank == 0) first = best.score;
    const float share = __expf(best.score - first);
    sum += share;
    if (lane == rank) {
      my_share = share;
      experts[static_cast<long>(row) * top_k + rank] = best.index;
    }
#pragma unroll
    for (int j = 0; j < kExpertsPerLane; ++j) {
      if (best.index == lane + 32 * j) mine[j] = kLowest;
    }
  }
  if (lane < top_k) weights[static_cast<long>(row) * top_k + lane] = my_share / sum;
}

}  // namespace

void softmax(const float* logits, float* out, int rows, int width, Stream stream) {
  softmax_kernel<<<rows, kThreads, 0, stream>>>(logits, out, width);
  check_launch("softmax");
}

void argmax(const Bf16* logits, int* tokens, int rows, int width, Stream stream) {
  argmax_kernel<<<rows, kThreads, 0, stream>>>(logits, tokens, width);
  check_launch("argmax");
}

void sample(const float* logits, int* tokens, int rows, int width, int top_k, float temperature, std::uint64_t seed,
            Stream stream) {
  sample_kernel<<<rows, kThreads, 0, stream>>>(logits, tokens, width, top_k, temperature, seed);
  check_launch("sampling");
}

void route(const Bf16* logits, int* experts, float* weights, int rows, int width, int top_k, Stream stream) {
  constexpr int kRowsPerBlock = 8;
  route_kernel<<<(rows + kRowsPerBlock - 1) / kRowsPerBlock, kRowsPerBlock * 32, 0, stream>>>(logits, experts, weights,
                                                                                              rows, width, top_k);
  check_launch("router");
}

}  // namespace llmscape::hardware::harness::cuda
