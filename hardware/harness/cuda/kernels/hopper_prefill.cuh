// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/prefill_rows.cuh"

namespace llmscape::hardware::harness::cuda {

// Prefill attention of one block with group_multiply_add, which GPUs of compute capability 9.0 alone have: two groups
// of four warps with 64 rows each, which take turns at the tensor cores as one computes exponentials while the other
// multiplies. Queries stay in registers; the next keys and values travel while these are worked on.
template <int kHeadDim>
struct HopperPrefillBlock : PrefillRows<kHeadDim, 256, 128> {
  static constexpr int kThreads = 256, kKeys = 128;
  using Rows = PrefillRows<kHeadDim, kThreads, kKeys>;
  static constexpr int kStageElements = 2 * kKeys * kHeadDim;
  static constexpr int kSharedBytes = 2 * kStageElements * static_cast<int>(sizeof(Bf16));
  using Rows::Rows;
  using Attention = Flash<kHeadDim, 1, kKeys>;
  using Eight = float[8][4];  // columns of results: 64

  // Operand a of each 16 columns; zeros behind the last row.
  __device__ __forceinline__ void load_queries(std::uint32_t (&a)[kHeadDim / 16][4], int warp_row) const {
    const int lane = thread_index() % kWarp;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = this->first_row + warp_row + lane / 4 + 8 * half;
      const bool valid = row <= this->last_row();
      const Bf16* from = this->work.queries + (valid ? this->element_of(row) : 0) + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < kHeadDim / 8; ++i) {
        a[i / 2][i % 2 * 2 + half] = valid ? *reinterpret_cast<const std::uint32_t*>(from + 8 * i) : 0;
      }
    }
  }

  __device__ __forceinline__ void copy_stage(Bf16* stage, int first_key) const {
    const auto place = [](int row, int at) { return panelled(row, at, kKeys); };
    this->copy_keys(stage, this->work.kv.keys, first_key, place);
    this->copy_keys(stage + kKeys * kHeadDim, this->work.kv.values, first_key, place);
    close_copy_group();
  }

  __device__ __forceinline__ static void score(typename Attention::Scores& scores,
                                               const std::uint32_t (&queries)[kHeadDim / 16][4], const Bf16* keys) {
    open_products();
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      const Bf16* columns = keys + step * 16 / kPanel * kKeys * kPanel + step * 16 % kPanel;
#pragma unroll
      for (int key = 0; key < kKeys; key += 64) {
        auto& sums = reinterpret_cast<Eight&>(scores[0][key / 8]);
        if (step == 0) group_multiply_add<false, false>(sums, queries[step], columns + key * kPanel);
        else group_multiply_add<false, true>(sums, queries[step], columns + key * kPanel);
      }
    }
    finish_products(scores[0]);
  }

  __device__ __forceinline__ static void add_values(Attention& attention, const typename Attention::Scores& weights,
                                                    const Bf16* values) {
    std::uint32_t a[kKeys / 16][4];
#pragma unroll
    for (int i = 0; i < kKeys / 16 * 4; ++i) {
      const auto& columns = weights[0][i / 4 * 2 + i % 4 / 2];
      a[i / 4][i % 4] = pack(columns[i % 2 * 2], columns[i % 2 * 2 + 1]);
    }
    open_products();
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step) {
#pragma unroll
      for (int panel = 0; panel < kHeadDim / kPanel; ++panel) {
        group_multiply_add<true, true>(reinterpret_cast<Eight&>(attention.out[0][8 * panel]), a[step],
                                       values + (panel * kKeys + 16 * step) * kPanel);
      }
    }
    finish_products(attention.out[0]);
  }

  __device__ __forceinline__ void run() const {
    if (this->first_row >= this->chunk * this->group) return;
    auto* stages = reinterpret_cast<Bf16*>(shared_memory());
    const int warp_row = thread_index() / kWarp * 16;
    const int key_end = this->visible(this->last_row()), seen_by_all = this->visible(this->first_row);
    copy_stage(stages, 0);
    std::uint32_t queries[kHeadDim / 16][4];
    load_queries(queries, warp_row);
    Attention attention;
    attention.start();
    int stage = 0;
    for (int first_key = 0; first_key < key_end; first_key += kKeys) {
      const Bf16* keys = stages + stage * kStageElements;
      stage = 1 - stage;
      await_copies<0>();
      publish_shared();
      block_barrier();  // this stage is there, and the other is done with
      if (first_key + kKeys < key_end) copy_stage(stages + stage * kStageElements, first_key + kKeys);
      typename Attention::Scores scores;
      score(scores, queries, keys);
      if (first_key + kKeys > seen_by_all) this->mask(scores, warp_row, first_key);
      attention.soften(scores, this->scale);
      add_values(attention, scores, keys + kKeys * kHeadDim);
    }
    attention.finish();
    this->store(attention, warp_row);
  }
};

}  // namespace llmscape::hardware::harness::cuda
