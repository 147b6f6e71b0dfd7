// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>

namespace llmscape::hardware::harness::cuda {

// All that the kernels with tensor cores ask of the GPU, as functions: a test compiles the same kernels over an
// emulation of these on the host. PTX as in "Parallel Thread Execution ISA", NVIDIA, sections on the instructions
// named.

struct BlockIndex {
  int x, y, z;
};
__device__ __forceinline__ BlockIndex block_index() {
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
}
__device__ __forceinline__ int thread_index() { return static_cast<int>(threadIdx.x); }

// The block's dynamic shared memory, aligned to 1,024 bytes where the kernel asks for no static one.
__device__ __forceinline__ std::byte* shared_memory() {
  extern __shared__ __align__(1024) std::byte memory[];
  return memory;
}

__device__ __forceinline__ void block_barrier() { __syncthreads(); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
__device__ __forceinline__ float shuffle_xor(float x, int mask) { return __shfl_xor_sync(0xffffffffU, x, mask); }
__device__ __forceinline__ bool any_of_warp(bool x) { return __any_sync(0xffffffffU, x) != 0; }

// 2^x to two units in the last place; 0 for minus infinity.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two numbers rounded to bf16 in one register, `low` in the lower half.
__device__ __forceinline__ std::uint32_t pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

// cp.async: starts a copy of 16 bytes from device to shared memory; zeros where not `valid`, and nothing is read then.
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
}
// The copies that this thread started since the last call are one group.
__device__ __forceinline__ void close_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `kPending` of this thread's groups are under way. Others see the data after a barrier.
template <int kPending>
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ldmatrix.x4: four 8 x 8 matrices of bf16. Lane i names row i % 8 of matrix i / 8; of matrix j, lane i gets elements
// 2 (i % 4) and 2 (i % 4) + 1 of row i / 4 into registers[j].
__device__ __forceinline__ void load_matrices(std::uint32_t (&registers)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
// The same with each matrix transposed on the way: lane i gets elements i / 4 of rows 2 (i % 4) and 2 (i % 4) + 1.
__device__ __forceinline__ void load_matrices_transposed(std::uint32_t (&registers)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(shared_address(shared_row))
               : "memory");
}

// mma.m16n8k16, bf16 with float sums: d += a b. Lane i holds of d rows i / 4 (d[0], d[1]) and i / 4 + 8 (d[2], d[3]),
// columns 2 (i % 4) and the next; of a the rows i / 4 (a[0], a[2]) and i / 4 + 8 (a[1], a[3]), columns 2 (i % 4) and
// the next (a[0], a[1]) and the same + 8 (a[2], a[3]); of b column i / 4, rows 2 (i % 4) and the next (b0), + 8 (b1).
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace llmscape::hardware::harness::cuda
