// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/prefill_rows.cuh"

namespace llmscape::hardware::harness::cuda {

// Prefill attention of one block with multiply_add, which all GPUs since 80 have: four warps with 32 rows each. Values
// travel while the scores are computed, the next keys while the values are added.
template <int kHeadDim>
struct PrefillBlock : PrefillRows<kHeadDim, 128, 64> {
  static constexpr int kThreads = 128, kKeys = 64;
  using Rows = PrefillRows<kHeadDim, kThreads, kKeys>;
  static constexpr int kSharedBytes = (Rows::kRows + 2 * kKeys) * kHeadDim * static_cast<int>(sizeof(Bf16));
  using Rows::Rows;

  __device__ __forceinline__ void copy_queries(Bf16* to) const {
    const int chunk_at = thread_index() % Rows::kChunks;
    for (int row = thread_index() / Rows::kChunks; row < Rows::kRows; row += Rows::kRowsPerPass) {
      const bool valid = this->first_row + row <= this->last_row();
      const long from = valid ? this->element_of(this->first_row + row) : 0;
      copy_async(to + swizzled(row, chunk_at, kHeadDim), this->work.queries + from + chunk_at * kChunk, valid);
    }
  }

  __device__ __forceinline__ void run() const {
    using Attention = Flash<kHeadDim, 2, kKeys>;
    if (this->first_row >= this->chunk * this->group) return;
    auto* queries = reinterpret_cast<Bf16*>(shared_memory());
    Bf16 *keys = queries + Rows::kRows * kHeadDim, *values = keys + kKeys * kHeadDim;
    const int lane = thread_index() % kWarp, warp_row = thread_index() / kWarp * 32;
    const int key_end = this->visible(this->last_row()), seen_by_all = this->visible(this->first_row);
    const PagedKv& kv = this->work.kv;
    const auto place = [](int row, int at) { return swizzled(row, at, kHeadDim); };
    const auto load_query = [&](std::uint32_t(&a)[4], int tile, int step) {
      const int mine = lane_offset(lane, kHeadDim);
      load_matrices(a, queries + tile_offset(mine, warp_row + 16 * tile, 16 * step, kHeadDim));
    };

    Attention attention;
    attention.start();
    copy_queries(queries);
    this->copy_keys(keys, kv.keys, 0, place);
    close_copy_group();
    for (int first_key = 0; first_key < key_end; first_key += kKeys) {
      await_copies<0>();
      block_barrier();  // the keys are there, and the last values are done with
      this->copy_keys(values, kv.values, first_key, place);
      close_copy_group();
      typename Attention::Scores scores;
      attention.score(scores, load_query, keys);
      if (first_key + kKeys > seen_by_all) this->mask(scores, warp_row, first_key);
      attention.soften(scores, this->scale);
      await_copies<0>();
      block_barrier();  // the values are there, and the keys are done with
      if (first_key + kKeys < key_end) this->copy_keys(keys, kv.keys, first_key + kKeys, place);
      close_copy_group();
      attention.add_values(scores, values);
    }
    attention.finish();
    this->store(attention, warp_row);
  }
};

}  // namespace llmscape::hardware::harness::cuda
