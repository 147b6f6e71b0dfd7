// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/intrinsics.cuh"
#include "hardware/harness/cuda/kernels/tiles.hpp"

#include <cmath>

namespace llmscape::hardware::harness::cuda {

inline constexpr float kMasked = -INFINITY;

// What one warp knows of the attention of kRowTiles x 16 queries after some of their keys: the softmax is kept relative
// to the largest score so far (Dao et al., "FlashAttention", NeurIPS 2022; the order of work is FlashAttention-2's). A
// lane has rows lane / 4 and lane / 4 + 8 of each 16, and two columns of every eight. Scores are in units of log2.
template <int kHeadDim, int kRowTiles, int kKeys>
struct Flash {
  using Scores = float[kRowTiles][kKeys / 8][4];

  float out[kRowTiles][kHeadDim / 8][4];
  float largest[kRowTiles][2];
  float sum[kRowTiles][2];  // over the lane's columns alone until finish()

  __device__ __forceinline__ void start() {
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        largest[tile][half] = kMasked;
        sum[tile][half] = 0;
      }
#pragma unroll
      for (auto& columns : out[tile]) {
#pragma unroll
        for (float& x : columns) x = 0;
      }
    }
  }

  // scores = queries keys^T. load_query(a, tile, step) gives columns 16 step to 16 step + 15 of 16 rows; `keys` is in
  // shared memory, swizzled.
  template <class LoadQuery>
  __device__ __forceinline__ void score(Scores& scores, LoadQuery load_query, const Bf16* keys) const {
    const int mine = lane_offset(thread_index() % kWarp, kHeadDim);
#pragma unroll
    for (auto& of_tile : scores) {
#pragma unroll
      for (auto& columns : of_tile) {
#pragma unroll
        for (float& x : columns) x = 0;
      }
    }
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      std::uint32_t a[kRowTiles][4];
#pragma unroll
      for (int tile = 0; tile < kRowTiles; ++tile) load_query(a[tile], tile, step);
#pragma unroll
      for (int key = 0; key < kKeys; key += 16) {
        std::uint32_t b[4];
        load_matrices(b, keys + tile_offset(mine, key, 16 * step, kHeadDim));
#pragma unroll
        for (int tile = 0; tile < kRowTiles; ++tile) {
          multiply_add(scores[tile][key / 8], a[tile], b[0], b[2]);
          multiply_add(scores[tile][key / 8 + 1], a[tile], b[1], b[3]);
        }
      }
    }
  }

  // Turns scores into weights relative to the largest score, and what was summed before likewise. Each row has a key
  // that is not masked among the first it meets.
  __device__ __forceinline__ void soften(Scores& scores, float scale) {
    bool moved = false;
    float factor[kRowTiles][2];
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = largest[tile][half];
#pragma unroll
        for (auto& columns : scores[tile]) top = fmaxf(top, fmaxf(columns[2 * half], columns[2 * half + 1]));
        top = fmaxf(top, shuffle_xor(top, 1));
        top = fmaxf(top, shuffle_xor(top, 2));
        moved = moved || top != largest[tile][half];
        factor[tile][half] = exp2_of((largest[tile][half] - top) * scale);
        largest[tile][half] = top;
        float here = 0;
#pragma unroll
        for (auto& columns : scores[tile]) {
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            columns[i] = exp2_of(columns[i] * scale - top * scale);
            here += columns[i];
          }
        }
        sum[tile][half] = sum[tile][half] * factor[tile][half] + here;
      }
    }
    if (!any_of_warp(moved)) return;
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (auto& columns : out[tile]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) columns[i] *= factor[tile][i / 2];
      }
    }
  }

  // out += weights values; `values` is in shared memory, swizzled.
  __device__ __forceinline__ void add_values(const Scores& weights, const Bf16* values) {
    const int mine = lane_offset(thread_index() % kWarp, kHeadDim);
#pragma unroll
    for (int key = 0; key < kKeys; key += 16) {
      std::uint32_t a[kRowTiles][4];
#pragma unroll
      for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const auto& columns = weights[tile][key / 8 + i / 2];
          a[tile][i] = pack(columns[i % 2 * 2], columns[i % 2 * 2 + 1]);
        }
      }
#pragma unroll
      for (int column = 0; column < kHeadDim; column += 16) {
        std::uint32_t b[4];
        load_matrices_transposed(b, values + tile_offset(mine, key, column, kHeadDim));
#pragma unroll
        for (int tile = 0; tile < kRowTiles; ++tile) {
          multiply_add(out[tile][column / 8], a[tile], b[0], b[1]);
          multiply_add(out[tile][column / 8 + 1], a[tile], b[2], b[3]);
        }
      }
    }
  }

  // Sums over the lanes that share a row.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (auto& of_tile : sum) {
#pragma unroll
      for (float& x : of_tile) {
        x += shuffle_xor(x, 1);
        x += shuffle_xor(x, 2);
      }
    }
  }
};

}  // namespace llmscape::hardware::harness::cuda
