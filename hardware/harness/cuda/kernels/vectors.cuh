// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"

#include <cuda_bf16.h>

namespace llmscape::hardware::harness::cuda {

// Eight bf16, one 16-byte access: what a thread reads and writes at a time.
inline constexpr int kLanes = 8;
struct alignas(16) Vector8 {
  std::uint32_t pairs[kLanes / 2];  // the lower half is the element before
};

struct Floats8 {
  float at[kLanes];
};

__device__ __forceinline__ Floats8 to_floats(const Vector8& packed) {
  Floats8 x;
#pragma unroll
  for (int i = 0; i < kLanes / 2; ++i) {
    x.at[2 * i] = __uint_as_float(packed.pairs[i] << 16);
    x.at[2 * i + 1] = __uint_as_float(packed.pairs[i] & 0xffff0000U);
  }
  return x;
}

__device__ __forceinline__ Vector8 to_vector(const Floats8& x) {
  Vector8 packed;
#pragma unroll
  for (int i = 0; i < kLanes / 2; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x.at[2 * i], x.at[2 * i + 1]);
    packed.pairs[i] = *reinterpret_cast<const std::uint32_t*>(&pair);
  }
  return packed;
}

__device__ __forceinline__ Floats8 load8(const Bf16* from) {
  return to_floats(*reinterpret_cast<const Vector8*>(from));
}
__device__ __forceinline__ void store8(Bf16* to, const Floats8& x) { *reinterpret_cast<Vector8*>(to) = to_vector(x); }

// `x` combined over the threads of a block, given to each of them; `combine` is associative and commutative. A second
// call needs no barrier of the caller's own.
template <class Combine>
__device__ float over_block(float x, Combine combine) {
  __shared__ float of_warp[32];
  for (int mask = 16; mask > 0; mask /= 2) x = combine(x, __shfl_xor_sync(0xffffffffU, x, mask));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  x = of_warp[0];
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) x = combine(x, of_warp[warp]);
  __syncthreads();
  return x;
}
__device__ __forceinline__ float sum_over_block(float x) {
  return over_block(x, [](float a, float b) { return a + b; });
}
__device__ __forceinline__ float max_over_block(float x) {
  return over_block(x, [](float a, float b) { return fmaxf(a, b); });
}

}  // namespace llmscape::hardware::harness::cuda
