// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/memory.hpp"

#include <cuda_fp8.h>

#include <algorithm>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMostBlocks = 8192;  // a few waves of any GPU; the loops below stride over the rest

int blocks_of(std::size_t items) { return static_cast<int>(std::clamp<std::size_t>(items / kThreads, 1, kMostBlocks)); }

__device__ std::size_t first_item() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

__device__ void round_to(float& out, float x) { out = x; }
__device__ void round_to(Bf16& out, float x) { out = to_bf16(x); }
__device__ void round_to(Fp8& out, float x) { out.bits = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }

template <class T>
__global__ void fill_kernel(T* out, std::size_t elements, float amplitude, std::uint64_t seed) {
  for (std::size_t i = first_item(); i < elements; i += stride()) {
    round_to(out[i], (2 * uniform(seed, i) - 1) * amplitude);
  }
}

__device__ bool is_poison(float x) { return __float_as_uint(x) == 0xffffffffU; }
__device__ bool is_poison(Bf16 x) { return x.bits == 0xffff; }
__device__ bool is_poison(Fp8 x) { return x.bits == 0xff; }

template <class T>
__global__ void count_kernel(const T* out, std::size_t elements, unsigned long long* count) {
  unsigned found = 0;
  for (std::size_t i = first_item(); i < elements; i += stride()) found += is_poison(out[i]);
  if (found != 0) atomicAdd(count, found);
}

template <class T>
long count_poison(const T* out, std::size_t elements, Stream stream) {
  DeviceArray<unsigned long long> count(std::vector<unsigned long long>{0});
  count_kernel<<<blocks_of(elements), kThreads, 0, stream>>>(out, elements, count.data());
  check_launch("counting unwritten elements");
  check(cudaStreamSynchronize(stream), "counting unwritten elements");
  return static_cast<long>(count.download()[0]);
}

__global__ void triad_kernel(float4* a, const float4* b, const float4* c, float s, std::size_t vectors) {
  for (std::size_t i = first_item(); i < vectors; i += stride()) {
    const float4 x = b[i], y = c[i];
    a[i] = {x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w};
  }
}

// One block of threads copies one block of the pool, 16 bytes a thread at a time.
__global__ void gather_kernel(const uint4* pool, const int* blocks, uint4* out, std::size_t vectors) {
  const uint4* from = pool + static_cast<std::size_t>(blocks[blockIdx.x]) * vectors;
  uint4* to = out + static_cast<std::size_t>(blockIdx.x) * vectors;
#pragma unroll 4
  for (std::size_t i = threadIdx.x; i < vectors; i += blockDim.x) to[i] = from[i];
}

__global__ void read_kernel(const uint4* data, std::size_t vectors) {
  unsigned bits = 0;
#pragma unroll 4
  for (std::size_t i = first_item(); i < vectors; i += stride()) bits |= data[i].x;
  asm volatile("" ::"r"(bits));  // so that the loads are not left out
}

__global__ void do_nothing() {}

}  // namespace

void fill_random(float* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream) {
  fill_kernel<<<blocks_of(elements), kThreads, 0, stream>>>(out, elements, amplitude, seed);
  check_launch("filling with random numbers");
}
void fill_random(Bf16* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream) {
  fill_kernel<<<blocks_of(elements), kThreads, 0, stream>>>(out, elements, amplitude, seed);
  check_launch("filling with random numbers");
}
void fill_random(Fp8* out, std::size_t elements, float amplitude, std::uint64_t seed, Stream stream) {
  fill_kernel<<<blocks_of(elements), kThreads, 0, stream>>>(out, elements, amplitude, seed);
  check_launch("filling with random numbers");
}

long count_unwritten(const float* out, std::size_t elements, Stream stream) {
  return count_poison(out, elements, stream);
}
long count_unwritten(const Bf16* out, std::size_t elements, Stream stream) {
  return count_poison(out, elements, stream);
}
long count_unwritten(const Fp8* out, std::size_t elements, Stream stream) {
  return count_poison(out, elements, stream);
}

void triad(float* a, const float* b, const float* c, float s, std::size_t elements, Stream stream) {
  triad_kernel<<<blocks_of(elements / 4), kThreads, 0, stream>>>(reinterpret_cast<float4*>(a),
                                                                 reinterpret_cast<const float4*>(b),
                                                                 reinterpret_cast<const float4*>(c), s, elements / 4);
  check_launch("triad");
}

void gather_blocks(const std::byte* pool, const int* blocks, std::byte* out, int count, std::size_t block_bytes,
                   Stream stream) {
  gather_kernel<<<count, kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(pool), blocks,
                                                reinterpret_cast<uint4*>(out), block_bytes / sizeof(uint4));
  check_launch("KV gather");
}

void read_through(const std::byte* data, std::size_t bytes, Stream stream) {
  const std::size_t vectors = bytes / sizeof(uint4);
  read_kernel<<<blocks_of(vectors), kThreads, 0, stream>>>(reinterpret_cast<const uint4*>(data), vectors);
  check_launch("flushing the L2");
}

void empty_kernel(Stream stream) {
  do_nothing<<<1, 32, 0, stream>>>();
  check_launch("empty kernel");
}

}  // namespace llmscape::hardware::harness::cuda
