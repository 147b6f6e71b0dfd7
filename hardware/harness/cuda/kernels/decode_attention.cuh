// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/kernels/flash.cuh"

namespace llmscape::hardware::harness::cuda {

// Parts of a softmax are merged with these: each was kept relative to a largest score of its own, in units of log2, and
// that of a part without keys is kMasked.
__device__ __forceinline__ float part_weight(float largest_of_part, float largest) {
  return largest_of_part == kMasked ? 0 : exp2_of(largest_of_part - largest);
}

// One block attends the queries of one KV head's group over one split of a sequence's keys. Each of four warps takes
// every fourth block of 16 keys and has copies of its next ones under way, in a ring of its own: enough bytes in flight
// for the memory's whole rate, and no barrier between warps until they merge what they have.
template <int kHeadDim>
struct DecodeBlock {
  static constexpr int kWarps = 4, kThreads = kWarps * kWarp, kRows = 16;
  static constexpr int kStages = kHeadDim == 128 ? 3 : 4;
  static constexpr int kHeadElements = kBlockTokens * kHeadDim;  // keys, or values, of one block
  static constexpr int kStageElements = 2 * kHeadElements;
  static constexpr int kSharedBytes = kWarps * kStages * kStageElements * static_cast<int>(sizeof(Bf16));
  static constexpr int kStatistics =
      kWarps * kRows * kHeadDim;  // where they stand behind the warps' outputs, in floats
  static_assert((kStatistics + 2 * kWarps * kRows) * static_cast<int>(sizeof(float)) <= kSharedBytes);
  using Attention = Flash<kHeadDim, 1, kBlockTokens>;

  const DecodeAttention& work;
  int split, kv_head, sequence, group, context;
  float scale;

  __device__ __forceinline__ DecodeBlock(const DecodeAttention& all, BlockIndex block)
      : work(all), split(block.x), kv_head(block.y), sequence(block.z), group(all.shape.heads / all.kv.kv_heads),
        context(all.contexts[block.z]), scale(all.shape.scale * 1.44269504F) {}

  __device__ __forceinline__ long head_row(int row) const {  // among [sequences][heads]
    return static_cast<long>(sequence) * work.shape.heads + kv_head * group + row;
  }

  // The queries as operand a of each step; rows behind the group are zeros.
  __device__ __forceinline__ void load_queries(std::uint32_t (&a)[kHeadDim / 16][4]) const {
    const int lane = thread_index() % kWarp;
#pragma unroll
    for (int i = 0; i < kHeadDim / 16 * 4; ++i) {
      const int row = lane / 4 + i % 2 * 8, column = i / 4 * 16 + i % 4 / 2 * 8 + lane % 4 * 2;
      const auto* from = reinterpret_cast<const std::uint32_t*>(work.queries + head_row(row) * kHeadDim + column);
      a[i / 4][i % 4] = row < group ? *from : 0;
    }
  }

  // Both halves of a stage; zeros behind the context.
  __device__ __forceinline__ void copy_block(Bf16* stage, long offset, int first_key) const {
    const int lane = thread_index() % kWarp;
    constexpr int kChunks = kHeadDim / kChunk;
#pragma unroll
    for (int i = 0; i < kHeadElements / kChunk / kWarp; ++i) {
      const int at = i * kWarp + lane, row = at / kChunks;
      const bool valid = first_key + row < context;
      const int to = swizzled(row, at % kChunks, kHeadDim);
      copy_async(stage + to, work.kv.keys + offset + at * kChunk, valid);
      copy_async(stage + kHeadElements + to, work.kv.values + offset + at * kChunk, valid);
    }
  }

  __device__ __forceinline__ void attend(Attention& attention, Range blocks) const {
    const int* table = work.kv.block_table + static_cast<long>(sequence) * work.kv.blocks_per_sequence;
    const int lane = thread_index() % kWarp, warp = thread_index() / kWarp;
    Bf16* ring = reinterpret_cast<Bf16*>(shared_memory()) + warp * kStages * kStageElements;
    std::uint32_t queries[kHeadDim / 16][4];
    load_queries(queries);
    const auto load_query = [&](std::uint32_t(&a)[4], int, int step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = queries[step][i];
    };

    int ahead = blocks.begin + warp;  // the next block to copy; its number is read one round before it is used
    int number = ahead < blocks.end ? table[ahead] : 0;
    const auto copy_next = [&](int stage) {
      if (ahead < blocks.end) {
        copy_block(ring + stage * kStageElements, head_offset(work.kv, number, kv_head), ahead * kBlockTokens);
        ahead += kWarps;
        if (ahead < blocks.end) number = table[ahead];
      }
      close_copy_group();
    };
    for (int stage = 0; stage < kStages - 1; ++stage) copy_next(stage);

    int stage = 0;
    for (int block = blocks.begin + warp; block < blocks.end; block += kWarps) {
      await_copies<kStages - 2>();
      warp_barrier();  // the block is there for all lanes, and they are done with the one before
      copy_next(stage == 0 ? kStages - 1 : stage - 1);
      const Bf16* keys = ring + stage * kStageElements;
      typename Attention::Scores scores;
      attention.score(scores, load_query, keys);
      const int visible = context - block * kBlockTokens;
      if (visible < kBlockTokens) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if (lane % 4 * 2 + i / 4 * 8 + i % 2 >= visible) scores[0][i / 4][i % 4] = kMasked;
        }
      }
      attention.soften(scores, scale);
      attention.add_values(scores, keys + kHeadElements);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    await_copies<0>();
    attention.finish();
  }

  // What each warp has, into shared memory: outputs by warp and row, then the rows' largest scores and sums.
  __device__ __forceinline__ static void share(const Attention& attention, float scale, float* shared) {
    const int lane = thread_index() % kWarp, warp = thread_index() / kWarp;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = warp * kRows + lane / 4 + half * 8;
#pragma unroll
      for (int column = 0; column < kHeadDim / 8; ++column) {
        float* to = shared + at * kHeadDim + column * 8 + lane % 4 * 2;
        to[0] = attention.out[0][column][2 * half];
        to[1] = attention.out[0][column][2 * half + 1];
      }
      if (lane % 4 == 0) {
        shared[kStatistics + 2 * at] = attention.largest[0][half] * scale;
        shared[kStatistics + 2 * at + 1] = attention.sum[0][half];
      }
    }
  }

  // Merges the warps' parts of one element and writes it: as output where there is one split, else as this split's
  // part.
  __device__ __forceinline__ void write(const float* shared, int row, int column) const {
    float largest = kMasked, sum = 0, out = 0;
    for (int warp = 0; warp < kWarps; ++warp) largest = fmaxf(largest, shared[kStatistics + 2 * (warp * kRows + row)]);
    for (int warp = 0; warp < kWarps; ++warp) {
      const int at = warp * kRows + row;
      const float weight = part_weight(shared[kStatistics + 2 * at], largest);
      sum += weight * shared[kStatistics + 2 * at + 1];
      out += weight * shared[at * kHeadDim + column];
    }
    if (work.splits == 1) {
      work.out[head_row(row) * kHeadDim + column] = to_bf16(out / sum);
      return;
    }
    const long part = head_row(row) * work.splits + split;
    work.workspace[part * kHeadDim + column] = out;
    if (column < 2) statistics(work)[2 * part + column] = column == 0 ? largest : sum;
  }

  __device__ __forceinline__ static float* statistics(const DecodeAttention& all) {
    return all.workspace + static_cast<long>(all.sequences) * all.shape.heads * all.splits * kHeadDim;
  }

  __device__ __forceinline__ void run() const {
    Attention attention;
    attention.start();
    attend(attention, split_range(context, split, work.splits));
    auto* shared = reinterpret_cast<float*>(shared_memory());
    block_barrier();  // no warp reads its ring any more
    share(attention, scale, shared);
    block_barrier();
    for (int i = thread_index(); i < group * kHeadDim; i += kThreads) write(shared, i / kHeadDim, i % kHeadDim);
  }
};

// Merges the splits of one head of one sequence (block.x among [sequences][heads]), a thread a column.
template <int kHeadDim>
__device__ __forceinline__ void merge_splits(const DecodeAttention& work, BlockIndex block) {
  const long first = static_cast<long>(block.x) * work.splits;
  const float* statistics = DecodeBlock<kHeadDim>::statistics(work) + 2 * first;
  const float* parts = work.workspace + first * kHeadDim + thread_index();
  float largest = kMasked, sum = 0, out = 0;
  for (int split = 0; split < work.splits; ++split) largest = fmaxf(largest, statistics[2 * split]);
#pragma unroll 4
  for (int split = 0; split < work.splits; ++split) {
    const float weight = part_weight(statistics[2 * split], largest);
    sum += weight * statistics[2 * split + 1];
    out += weight * parts[static_cast<long>(split) * kHeadDim];
  }
  work.out[static_cast<long>(block.x) * kHeadDim + thread_index()] = to_bf16(out / sum);
}

}  // namespace llmscape::hardware::harness::cuda
