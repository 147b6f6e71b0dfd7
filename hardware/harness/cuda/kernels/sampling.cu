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

// Calls visit(column, logit bits) for every element of the row that is this thread's.
template <class Visit>
__device__ void over_row(const Bf16* row, int width, Visit visit) {
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Vector8 packed = *reinterpret_cast<const Vector8*>(row + i);
#pragma unroll
    for (int j = 0; j < kLanes; ++j) {
      visit(i + j, Bf16{static_cast<std::uint16_t>(packed.pairs[j / 2] >> (j % 2 * 16))});
    }
  }
}

__global__ void softmax_kernel(const Bf16* logits, Bf16* out, int width) {
  const long row = static_cast<long>(blockIdx.x) * width;
  float largest = kLowest, sum = 0;  // of this thread's elements, the sum relative to `largest`
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Floats8 v = load8(logits + row + i);
    float here = largest;
#pragma unroll
    for (float each : v.at) here = fmaxf(here, each);
    sum *= __expf(largest - here);
    largest = here;
#pragma unroll
    for (float each : v.at) sum += __expf(each - largest);
  }
  const float of_row = max_over_block(largest);
  const float factor = 1 / sum_over_block(sum == 0 ? 0 : sum * __expf(largest - of_row));
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    Floats8 v = load8(logits + row + i);
#pragma unroll
    for (float& each : v.at) each = __expf(each - of_row) * factor;
    store8(out + row + i, v);
  }
}

__global__ void argmax_kernel(const Bf16* logits, int* tokens, int width) {
  Candidate mine = kNone;
  over_row(logits + static_cast<long>(blockIdx.x) * width, width,
           [&](int column, Bf16 logit) { mine = better(mine, {to_float(logit), column}); });
  mine = best_of_block(mine);
  if (threadIdx.x == 0) tokens[blockIdx.x] = mine.index;
}

// The keys of a row's logits by their upper byte, then those of the top_k-th largest's upper byte by their lower.
__device__ Threshold find_threshold(const Bf16* row, int width, int top_k) {
  __shared__ int count[kDigits];
  __shared__ Threshold threshold;
  if (threadIdx.x == 0) threshold = {0, top_k};
  for (const int shift : {8, 0}) {
    for (unsigned i = threadIdx.x; i < kDigits; i += blockDim.x) count[i] = 0;
    __syncthreads();
    over_row(row, width, [&](int, Bf16 logit) {
      const unsigned key = ordered_key(logit);
      if (shift == 8 || key >> 8 == threshold.key >> 8) atomicAdd(&count[key >> shift & (kDigits - 1)], 1);
    });
    __syncthreads();
    if (threadIdx.x == 0) threshold = narrow(threshold, count, shift);
    __syncthreads();
  }
  return threshold;
}

__global__ void __launch_bounds__(kThreads)
    sample_kernel(const Bf16* logits, int* tokens, int width, int top_k, float temperature, std::uint64_t seed) {
  const Bf16* row = logits + static_cast<long>(blockIdx.x) * width;
  const unsigned lowest = find_threshold(row, width, top_k).key;
  Candidate mine = kNone;
  over_row(row, width, [&](int column, Bf16 logit) {
    if (ordered_key(logit) < lowest) return;
    const float noise = -logf(-logf(uniform(seed, static_cast<std::uint64_t>(blockIdx.x) * width + column)));
    mine = better(mine, {to_float(logit) / temperature + noise, column});
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

void softmax(const Bf16* logits, Bf16* out, int rows, int width, Stream stream) {
  softmax_kernel<<<rows, kThreads, 0, stream>>>(logits, out, width);
  check_launch("softmax");
}

void argmax(const Bf16* logits, int* tokens, int rows, int width, Stream stream) {
  argmax_kernel<<<rows, kThreads, 0, stream>>>(logits, tokens, width);
  check_launch("argmax");
}

void sample(const Bf16* logits, int* tokens, int rows, int width, int top_k, float temperature, std::uint64_t seed,
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
