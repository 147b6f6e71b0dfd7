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

// Hopper's matrix instructions, for a group of four warps that begins at a multiple of four. Elsewhere they trap: the
// host does not launch kernels with them there.

// Shared memory that this thread wrote is seen by group_multiply_add, after a barrier.
__device__ __forceinline__ void publish_shared() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// Between ordinary uses of registers and the first group_multiply_add that has them as operands.
__device__ __forceinline__ void open_products() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
// Waits for all products since; only then are their operands and results ordinary registers again.
template <int kCount>
__device__ __forceinline__ void finish_products(float (&results)[kCount][4]) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
#pragma unroll
  for (auto& column : results) {
#pragma unroll
    for (float& x : column) asm volatile("" : "+f"(x)::"memory");  // no earlier than the wait
  }
}

// wgmma.m64n64k16, bf16 with float sums: d = a b, or d += a b where kAdd. Warp i of the group has rows 16 i to 16 i +
// 15 of d and a, laid out as for multiply_add, the eight columns of d[j] being 8 j and on. b is in shared memory in
// rows of 64 elements, 128 bytes each, whose eight chunks are permuted as swizzled() does; the rows begin at a multiple
// of 1,024 bytes. Each row holds one column of b, 16 of its elements counted from `b` (kRowsOfB false), or one row of b
// (true), 16 of them from `b`.
template <bool kRowsOfB, bool kAdd>
__device__ __forceinline__ void group_multiply_add(float (&d)[8][4], const std::uint32_t (&a)[4], const void* b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  // The matrix descriptor: the address and the distance of eight rows from the next eight, in units of 16 bytes, and
  // the 128-byte swizzle. It has places for two distances; with 64 columns the other one is never gone.
  constexpr std::uint64_t kUnit = 16, kEightRows = 1024 / kUnit, kSwizzle128 = 1;
  const std::uint64_t descriptor =
      (shared_address(b) & 0x3ffffU) / kUnit | kEightRows << 16 | kEightRows << 32 | kSwizzle128 << 62;
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %38, 0;"
      " wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, "
      "%35}, %36, add, 1, 1, %37; }"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]),
        "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]),
        "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]),
        "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]), "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
        "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor), "n"(kRowsOfB ? 1 : 0), "n"(kAdd ? 1 : 0));
#else
  __trap();
#endif
}

}  // namespace llmscape::hardware::harness::cuda
