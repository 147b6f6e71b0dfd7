// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/kernels/flash.cuh"

namespace llmscape::hardware::harness::cuda {

// What one block of kThreads threads has to do of a prefill: 128 query rows of one KV head, a row being one head of the
// group for one token. Keys and values come to it kKeys at a time.
template <int kHeadDim, int kThreads, int kKeys>
struct PrefillRows {
  static constexpr int kRows = 128, kHeadWidth = kHeadDim;
  static constexpr int kChunks = kHeadDim / kChunk;        // of a row
  static constexpr int kRowsPerPass = kThreads / kChunks;  // rows that the threads copy at a time, one chunk each

  const PrefillAttention& work;
  int sequence, kv_head, group, first_row;  // first_row: of this tile, in the chunk's rows of (token, head)
  int chunk, context;                       // tokens
  float scale;                              // of scores, with log2(e)

  __device__ __forceinline__ PrefillRows(const PrefillAttention& all, BlockIndex block)
      : work(all), sequence(block.z), kv_head(block.y), group(all.shape.heads / all.kv.kv_heads),
        first_row(block.x * kRows), chunk(all.first_row[block.z + 1] - all.first_row[block.z]),
        context(all.contexts[block.z]), scale(all.shape.scale * 1.44269504F) {}

  // The last row that is one, and how many keys it sees.
  __device__ __forceinline__ int last_row() const { return std::min(first_row + kRows, chunk * group) - 1; }
  __device__ __forceinline__ int visible(int row) const { return visible_keys(row, group, chunk, context); }

  __device__ __forceinline__ long element_of(int row) const {  // where a row stands among queries and outputs
    const QueryRow at = query_row(row, group);
    return (static_cast<long>(work.first_row[sequence] + at.token) * work.shape.heads + kv_head * group + at.head) *
           kHeadDim;
  }

  // Starts to copy keys or values from `first_key` on; zeros behind the context. place(row, chunk) is an element's
  // place.
  template <class Place>
  __device__ __forceinline__ void copy_keys(Bf16* to, const Bf16* pool, int first_key, Place place) const {
    constexpr int kPasses = kKeys / kRowsPerPass;
    const int* table = work.kv.block_table + static_cast<long>(sequence) * work.kv.blocks_per_sequence;
    const int chunk_at = thread_index() % kChunks, row_at = thread_index() / kChunks;
    int block[kPasses];
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      block[pass] = table[std::min(first_key + pass * kRowsPerPass + row_at, context - 1) / kBlockTokens];
    }
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsPerPass + row_at;
      const Bf16* from = pool + head_offset(work.kv, block[pass], kv_head) + row % kBlockTokens * kHeadDim;
      copy_async(to + place(row, chunk_at), from + chunk_at * kChunk, first_key + row < context);
    }
  }

  // Masks what rows first_row + warp_row + ... must not see of the keys from `first_key` on.
  template <int kRowTiles>
  __device__ __forceinline__ void mask(float (&scores)[kRowTiles][kKeys / 8][4], int warp_row, int first_key) const {
    const int lane = thread_index() % kWarp, column = first_key + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2 * kRowTiles; ++i) {
      const int end = visible(first_row + warp_row + lane / 4 + 8 * i);
#pragma unroll
      for (int key = 0; key < kKeys; ++key) {
        if (key % 8 < 2 && column + key >= end) scores[i / 2][key / 8][i % 2 * 2 + key % 8] = kMasked;
      }
    }
  }

  template <int kRowTiles>
  __device__ __forceinline__ void store(const Flash<kHeadDim, kRowTiles, kKeys>& attention, int warp_row) const {
    const int lane = thread_index() % kWarp;
#pragma unroll
    for (int i = 0; i < 2 * kRowTiles; ++i) {
      const int row = first_row + warp_row + lane / 4 + 8 * i;
      if (row > last_row()) continue;
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
