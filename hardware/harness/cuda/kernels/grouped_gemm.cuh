// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/grouped_gemm.hpp"
#include "hardware/harness/cuda/kernels/intrinsics.cuh"
#include "hardware/harness/cuda/kernels/tiles.hpp"

namespace llmscape::hardware::harness::cuda {

// One block of eight warps computes kTileRows rows of one expert by 128 outputs; 64 inputs at a time come through a
// ring in shared memory.
template <int kTileRows>
struct GroupedGemmBlock {
  static constexpr int kThreads = 256, kColumns = 128, kDepth = 64;
  static constexpr int kStages = kTileRows == 128 ? 3 : 4;
  static constexpr int kStageElements = (kTileRows + kColumns) * kDepth;
  static constexpr int kSharedBytes = kStages * kStageElements * static_cast<int>(sizeof(Bf16));
  // The warps stand in a grid over the tile.
  static constexpr int kWarpsDown = kTileRows == 16 ? 1 : 2, kWarpsAcross = kThreads / kWarp / kWarpsDown;
  static constexpr int kWarpRows = kTileRows / kWarpsDown, kWarpColumns = kColumns / kWarpsAcross;
  using Sums = float[kWarpRows / 16][kWarpColumns / 8][4];

  const GroupedGemm& work;
  RowTile tile;
  int first_column;

  __device__ __forceinline__ GroupedGemmBlock(const GroupedGemm& all, BlockIndex block)
      : work(all), tile(all.tiles[block.x]), first_column(block.y * kColumns) {}

  // kCount rows of 64 inputs, beginning with `input`; zeros behind `valid_rows`.
  template <int kCount>
  __device__ __forceinline__ void copy_rows(Bf16* to, const Bf16* from, int valid_rows, int input) const {
    constexpr int kChunks = kDepth / kChunk;
    const int chunk = thread_index() % kChunks;
#pragma unroll
    for (int row = thread_index() / kChunks; row < kCount; row += kThreads / kChunks) {
      const bool valid = row < valid_rows;
      const long offset = valid ? static_cast<long>(row) * work.k : 0;
      copy_async(to + swizzled(row, chunk, kDepth), from + offset + input + chunk * kChunk, valid);
    }
  }

  __device__ __forceinline__ void copy_stage(Bf16* stage, int input) const {
    const Bf16* weights = work.weights + (static_cast<long>(tile.expert) * work.n + first_column) * work.k;
    copy_rows<kTileRows>(stage, work.x + static_cast<long>(tile.first_row) * work.k, tile.rows, input);
    copy_rows<kColumns>(stage + kTileRows * kDepth, weights, work.n - first_column, input);
  }

  // One stage's product into the warp's sums.
  __device__ __forceinline__ static void multiply(Sums& sums, const Bf16* stage, int warp_row, int warp_column) {
    const int mine = lane_offset(thread_index() % kWarp, kDepth);
    const Bf16* weights = stage + kTileRows * kDepth;
#pragma unroll
    for (int depth = 0; depth < kDepth; depth += 16) {
      std::uint32_t a[kWarpRows / 16][4];
#pragma unroll
      for (int row = 0; row < kWarpRows / 16; ++row) {
        load_matrices(a[row], stage + tile_offset(mine, warp_row + 16 * row, depth, kDepth));
      }
#pragma unroll
      for (int column = 0; column < kWarpColumns; column += 16) {
        std::uint32_t b[4];
        load_matrices(b, weights + tile_offset(mine, warp_column + column, depth, kDepth));
#pragma unroll
        for (int row = 0; row < kWarpRows / 16; ++row) {
          multiply_add(sums[row][column / 8], a[row], b[0], b[2]);
          multiply_add(sums[row][column / 8 + 1], a[row], b[1], b[3]);
        }
      }
    }
  }

  __device__ __forceinline__ void store(const Sums& sums, int warp_row, int warp_column) const {
    const int lane = thread_index() % kWarp;
#pragma unroll
    for (int half = 0; half < kWarpRows / 8; ++half) {
      const int row = warp_row + half * 8 + lane / 4;
      if (row >= tile.rows) continue;
      Bf16* to = work.out + static_cast<long>(tile.first_row + row) * work.n;
#pragma unroll
      for (int i = 0; i < kWarpColumns / 8; ++i) {
        const int column = first_column + warp_column + 8 * i + lane % 4 * 2;
        const auto& x = sums[half / 2][i];
        if (column < work.n)
          *reinterpret_cast<std::uint32_t*>(to + column) = pack(x[half % 2 * 2], x[half % 2 * 2 + 1]);
      }
    }
  }

  __device__ __forceinline__ void run() const {
    auto* ring = reinterpret_cast<Bf16*>(shared_memory());
    const int warp = thread_index() / kWarp;
    const int warp_row = warp / kWarpsAcross * kWarpRows, warp_column = warp % kWarpsAcross * kWarpColumns;
    Sums sums;
#pragma unroll
    for (auto& row : sums) {
#pragma unroll
      for (auto& column : row) {
#pragma unroll
        for (float& x : column) x = 0;
      }
    }
    int ahead = 0;  // the input that the next copy begins with
    const auto copy_next = [&](int stage) {
      if (ahead < work.k) copy_stage(ring + stage * kStageElements, ahead);
      ahead += kDepth;
      close_copy_group();
    };
    for (int stage = 0; stage < kStages - 1; ++stage) copy_next(stage);
    int stage = 0;
    for (int input = 0; input < work.k; input += kDepth) {
      await_copies<kStages - 2>();
      block_barrier();  // the stage is there, and all warps are done with the one before
      copy_next(stage == 0 ? kStages - 1 : stage - 1);
      multiply(sums, ring + stage * kStageElements, warp_row, warp_column);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    await_copies<0>();
    store(sums, warp_row, warp_column);
  }
};

}  // namespace llmscape::hardware::harness::cuda
