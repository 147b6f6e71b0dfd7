// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/kernels/flash.cuh"

namespace llmscape::hardware::harness::cuda {

// One block of four warps attends 128 query rows of one KV head, 32 a warp; keys and values come through shared memory
// 64 at a time: the values travel while the scores are computed, the next keys while the values are added.
template <int kHeadDim>
struct PrefillBlock {
  static constexpr int kRows = 128, kKeys = 64, kThreads = 128;
  static constexpr int kSharedBytes = (kRows + 2 * kKeys) * kHeadDim * static_cast<int>(sizeof(Bf16));
  static constexpr int kChunks = kHeadDim / kChunk;        // of a row
  static constexpr int kRowsPerPass = kThreads / kChunks;  // rows that the threads copy at a time, one chunk each
  static_assert(kBlockTokens % kRowsPerPass == 0);         // so that all threads are in one KV block

  const PrefillAttention& work;
  int sequence, kv_head, group, first_row;  // first_row: of this tile, in the chunk's rows of (token, head)
  int chunk, context;                       // tokens
  float scale;                              // of scores, with log2(e)

  __device__ __forceinline__ PrefillBlock(const PrefillAttention& all, BlockIndex block)
      : work(all), sequence(block.z), kv_head(block.y), group(all.shape.heads / all.kv.kv_heads),
        first_row(block.x * kRows), chunk(all.first_row[block.z + 1] - all.first_row[block.z]),
        context(all.contexts[block.z]), scale(all.shape.scale * 1.44269504F) {}

  __device__ __forceinline__ long element_of(int row) const {  // where a row stands among queries and outputs
    const QueryRow at = query_row(row, group);
    return (static_cast<long>(work.first_row[sequence] + at.token) * work.shape.heads + kv_head * group + at.head) *
           kHeadDim;
  }

  __device__ __forceinline__ void copy_queries(Bf16* to) const {
    const int chunk_at = thread_index() % kChunks;
    for (int row = thread_index() / kChunks; row < kRows; row += kRowsPerPass) {
      const bool valid = first_row + row < chunk * group;
      const long from = valid ? element_of(first_row + row) : 0;
      copy_async(to + swizzled(row, chunk_at, kHeadDim), work.queries + from + chunk_at * kChunk, valid);
    }
  }

  // Keys or values of the tile that begins with `first_key`; zeros behind the context.
  __device__ __forceinline__ void copy_keys(Bf16* to, const Bf16* pool, int first_key) const {
    const int* table = work.kv.block_table + static_cast<long>(sequence) * work.kv.blocks_per_sequence;
    const int last_block = (context - 1) / kBlockTokens;
    const int chunk_at = thread_index() % kChunks, row_at = thread_index() / kChunks;
    long block[kKeys / kBlockTokens];
#pragma unroll
    for (int i = 0; i < kKeys / kBlockTokens; ++i) {
      block[i] = head_offset(work.kv, table[std::min(first_key / kBlockTokens + i, last_block)], kv_head);
    }
#pragma unroll
    for (int pass = 0; pass < kKeys / kRowsPerPass; ++pass) {
      const int row = pass * kRowsPerPass + row_at;
      const Bf16* from = pool + block[pass * kRowsPerPass / kBlockTokens] + row % kBlockTokens * kHeadDim;
      copy_async(to + swizzled(row, chunk_at, kHeadDim), from + chunk_at * kChunk, first_key + row < context);
    }
  }

  __device__ __forceinline__ void run() const {
    using Attention = Flash<kHeadDim, 2, kKeys>;
    const int rows = chunk * group;
    if (first_row >= rows) return;
    auto* queries = reinterpret_cast<Bf16*>(shared_memory());
    Bf16 *keys = queries + kRows * kHeadDim, *values = keys + kKeys * kHeadDim;
    const int lane = thread_index() % kWarp, warp_row = thread_index() / kWarp * 32;
    const int last_row = std::min(first_row + kRows, rows) - 1;
    const int key_end = visible_keys(last_row, group, chunk, context);
    const int unmasked = visible_keys(first_row, group, chunk, context);  // every row sees these

    const auto load_query = [&](std::uint32_t(&a)[4], int tile, int step) {
      const int mine = lane_offset(lane, kHeadDim);
      load_matrices(a, queries + tile_offset(mine, warp_row + 16 * tile, 16 * step, kHeadDim));
    };

    Attention attention;
    attention.start();
    copy_queries(queries);
    copy_keys(keys, work.kv.keys, 0);
    close_copy_group();
    for (int first_key = 0; first_key < key_end; first_key += kKeys) {
      await_copies<0>();
      block_barrier();  // the keys are there, and the last values are done with
      copy_keys(values, work.kv.values, first_key);
      close_copy_group();
      typename Attention::Scores scores;
      attention.score(scores, load_query, keys);
      if (first_key + kKeys > unmasked) mask(scores, warp_row, first_key);
      attention.soften(scores, scale);
      await_copies<0>();
      block_barrier();  // the values are there, and the keys are done with
      if (first_key + kKeys < key_end) copy_keys(keys, work.kv.keys, first_key + kKeys);
      close_copy_group();
      attention.add_values(scores, values);
    }
    attention.finish();
    store(attention, warp_row, last_row);
  }

  template <class Scores>
  __device__ __forceinline__ void mask(Scores& scores, int warp_row, int first_key) const {
    const int lane = thread_index() % kWarp, column = first_key + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int visible = visible_keys(first_row + warp_row + lane / 4 + 8 * i, group, chunk, context);
#pragma unroll
      for (int key = 0; key < kKeys; ++key) {
        if (key % 8 < 2 && column + key >= visible) scores[i / 2][key / 8][i % 2 * 2 + key % 8] = kMasked;
      }
    }
  }

  template <class Attention>
  __device__ __forceinline__ void store(const Attention& attention, int warp_row, int last_row) const {
    const int lane = thread_index() % kWarp;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + warp_row + lane / 4 + 8 * i;
      if (row > last_row) continue;
      const float factor = 1 / attention.sum[i / 2][i % 2];
      auto* to = reinterpret_cast<std::uint32_t*>(work.out + element_of(row) + lane % 4 * 2);
#pragma unroll
      for (int column = 0; column < kHeadDim / 8; ++column) {
        const auto& x = attention.out[i / 2][column];
        to[column * 4] = pack(x[i % 2 * 2] * factor, x[i % 2 * 2 + 1] * factor);
      }
    }
  }
};

}  // namespace llmscape::hardware::harness::cuda
