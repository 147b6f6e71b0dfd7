// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/elementwise.hpp"
#include "hardware/harness/cuda/kernels/vectors.cuh"

#include <cuda_fp8.h>

#include <algorithm>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr int kThreads = 256;

// Threads of a block that goes over one row of `width` elements: a whole number of warps.
int threads_for(int width) { return std::clamp((width / kLanes + 31) / 32 * 32, 32, 1024); }

// Blocks for kernels that give a thread one vector of eight elements.
unsigned blocks_for_vectors(long vectors) { return static_cast<unsigned>((vectors + kThreads - 1) / kThreads); }
__device__ long vector_index() { return static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void rms_norm_kernel(const Bf16* x, const Bf16* gain, Bf16* out, int width) {
  const long row = static_cast<long>(blockIdx.x) * width;
  float squares = 0;
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Floats8 v = load8(x + row + i);
#pragma unroll
    for (float each : v.at) squares += each * each;
  }
  const float factor = rsqrtf(sum_over_block(squares) / static_cast<float>(width) + 1e-5F);
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    Floats8 v = load8(x + row + i);  // from the L1 or L2
    const Floats8 g = load8(gain + i);
#pragma unroll
    for (int j = 0; j < kLanes; ++j) v.at[j] *= factor * g.at[j];
    store8(out + row + i, v);
  }
}

__global__ void silu_mul_kernel(const Bf16* gate_up, Bf16* out, long vectors, int width) {
  const long i = vector_index();
  if (i >= vectors) return;
  const long row = i * kLanes / width, column = i * kLanes % width;
  Floats8 gate = load8(gate_up + row * 2 * width + column);
  const Floats8 up = load8(gate_up + row * 2 * width + width + column);
#pragma unroll
  for (int j = 0; j < kLanes; ++j) gate.at[j] *= up.at[j] / (1 + __expf(-gate.at[j]));
  store8(out + row * width + column, gate);
}

__global__ void add_kernel(const Bf16* a, const Bf16* b, Bf16* out, long vectors) {
  const long i = vector_index();
  if (i >= vectors) return;
  Floats8 x = load8(a + i * kLanes);
  const Floats8 y = load8(b + i * kLanes);
#pragma unroll
  for (int j = 0; j < kLanes; ++j) x.at[j] += y.at[j];
  store8(out + i * kLanes, x);
}

__global__ void embedding_kernel(const int* tokens, const Bf16* table, Bf16* out, int width) {
  const auto* from = reinterpret_cast<const Vector8*>(table + static_cast<long>(tokens[blockIdx.x]) * width);
  auto* to = reinterpret_cast<Vector8*>(out + static_cast<long>(blockIdx.x) * width);
  for (int i = threadIdx.x; i < width / kLanes; i += blockDim.x) to[i] = from[i];
}

// A thread turns eight pairs.
__global__ void rope_kernel(Bf16* x, const int* positions, long threads, int stride, int heads, int head_dim,
                            float log2_base) {
  const long i = vector_index();
  if (i >= threads) return;
  const int half = head_dim / 2, per_head = half / kLanes;
  const long row = i / (heads * per_head);
  const int head = static_cast<int>(i / per_head % heads), first = static_cast<int>(i % per_head) * kLanes;
  Bf16* low = x + row * stride + head * head_dim + first;
  Floats8 a = load8(low), b = load8(low + half);
  const auto position = static_cast<float>(positions[row]);
#pragma unroll
  for (int j = 0; j < kLanes; ++j) {
    const float angle = position * exp2f(-log2_base * static_cast<float>(first + j) / static_cast<float>(half));
    float sine = 0, cosine = 0;
    sincosf(angle, &sine, &cosine);  // not the fast one: angles reach 131,072
    const float turned = a.at[j] * cosine - b.at[j] * sine;
    b.at[j] = b.at[j] * cosine + a.at[j] * sine;
    a.at[j] = turned;
  }
  store8(low, a);
  store8(low + half, b);
}

// A thread moves eight elements of a key and of a value.
__global__ void store_kv_kernel(const Bf16* keys, const Bf16* values, const int* sequences, const int* positions,
                                PagedKv kv, long threads, int stride) {
  const long i = vector_index();
  if (i >= threads) return;
  const int width = kv.kv_heads * kv.head_dim;
  const long row = i * kLanes / width;
  const int column = static_cast<int>(i * kLanes % width);
  const int position = positions[row];
  const long block =
      kv.block_table[static_cast<long>(sequences[row]) * kv.blocks_per_sequence + position / kBlockTokens];
  const long to =
      head_offset(kv, block, column / kv.head_dim) + position % kBlockTokens * kv.head_dim + column % kv.head_dim;
  *reinterpret_cast<Vector8*>(kv.keys + to) = *reinterpret_cast<const Vector8*>(keys + row * stride + column);
  *reinterpret_cast<Vector8*>(kv.values + to) = *reinterpret_cast<const Vector8*>(values + row * stride + column);
}

__global__ void quantise_kernel(const Bf16* x, Fp8* out, float* scales, int width) {
  const long row = static_cast<long>(blockIdx.x) * width;
  float largest = 0;
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Floats8 v = load8(x + row + i);
#pragma unroll
    for (float each : v.at) largest = fmaxf(largest, fabsf(each));
  }
  largest = max_over_block(largest);
  const float scale = largest > 0 ? largest / kLargestFp8 : 1;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x * kLanes; i < width; i += blockDim.x * kLanes) {
    const Floats8 v = load8(x + row + i);
    ushort4 packed;
    unsigned short* pairs = &packed.x;
#pragma unroll
    for (int j = 0; j < kLanes / 2; ++j) {
      pairs[j] = __nv_cvt_float2_to_fp8x2({v.at[2 * j] / scale, v.at[2 * j + 1] / scale}, __NV_SATFINITE, __NV_E4M3);
    }
    *reinterpret_cast<ushort4*>(out + row + i) = packed;
  }
}

}  // namespace

void rms_norm(const Bf16* x, const Bf16* gain, Bf16* out, int rows, int width, Stream stream) {
  rms_norm_kernel<<<rows, threads_for(width), 0, stream>>>(x, gain, out, width);
  check_launch("norm");
}

void silu_mul(const Bf16* gate_up, Bf16* out, int rows, int width, Stream stream) {
  const long vectors = static_cast<long>(rows) * width / kLanes;
  silu_mul_kernel<<<blocks_for_vectors(vectors), kThreads, 0, stream>>>(gate_up, out, vectors, width);
  check_launch("activation");
}

void add(const Bf16* a, const Bf16* b, Bf16* out, long elements, Stream stream) {
  add_kernel<<<blocks_for_vectors(elements / kLanes), kThreads, 0, stream>>>(a, b, out, elements / kLanes);
  check_launch("add");
}

void embedding(const int* tokens, const Bf16* table, Bf16* out, int rows, int width, Stream stream) {
  embedding_kernel<<<rows, threads_for(width), 0, stream>>>(tokens, table, out, width);
  check_launch("embedding");
}

void rope(Bf16* x, const int* positions, int rows, int stride, int heads, int head_dim, float base, Stream stream) {
  const long threads = static_cast<long>(rows) * heads * (head_dim / 2 / kLanes);
  rope_kernel<<<blocks_for_vectors(threads), kThreads, 0, stream>>>(x, positions, threads, stride, heads, head_dim,
                                                                    std::log2(base));
  check_launch("rope");
}

void store_kv(const Bf16* keys, const Bf16* values, const int* sequences, const int* positions, const PagedKv& kv,
              int rows, int stride, Stream stream) {
  const long threads = static_cast<long>(rows) * kv.kv_heads * kv.head_dim / kLanes;
  store_kv_kernel<<<blocks_for_vectors(threads), kThreads, 0, stream>>>(keys, values, sequences, positions, kv, threads,
                                                                        stride);
  check_launch("storing keys and values");
}

void quantise(const Bf16* x, Fp8* out, float* scales, int rows, int width, Stream stream) {
  quantise_kernel<<<rows, threads_for(width), 0, stream>>>(x, out, scales, width);
  check_launch("quantise");
}

}  // namespace llmscape::hardware::harness::cuda
