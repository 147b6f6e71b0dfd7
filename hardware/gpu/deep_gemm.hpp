// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"

#include <cstdint>

namespace llmscape::hardware {

// DeepGEMM on Hopper, whose products have a scale for each block of 128: it works its tile out from the sides of the
// product, does not split K, and its blocks stay (no whole waves). Of tiles with 64 rows up to 64, else 128, and 16 to
// 128 columns in steps of 8 it takes those of the fewest waves, among these the ones that leave the last wave fullest,
// and then the narrowest (get_best_gemm_config; TensorRT-LLM's, vLLM's and SGLang's copies alike by their times).
struct DeepGemm {
  // Products of fewer rows swap their sides: the weights' columns are the 64 or 128 rows of a tile, and its columns as
  // many as there are rows, in steps of 8 from 16 on (TensorRT-LLM). 0: none do.
  std::int64_t swap_below = 0;
  // What a row costs that the last tile of rows lacks, for each 128 of K: the copy engine fills it with zeros. Of 64
  // rows at most, those of a warp group (an H100's products of 129 to 192 rows take 710 to 722 us alike; that 193, a
  // row for the last group too, take 549, is a step that this does not have).
  Seconds missing_row;
};
const Fields<DeepGemm>& deep_gemm_fields();

// How a product of `rows` x `columns` is cut.
struct DeepGemmGrid {
  std::int64_t tile_rows = 0, tile_columns = 0;
  double blocks = 0;
  double missing_rows = 0;  // of the last tile of rows, as far as they cost
  double turns = 0;         // tiles of that kind that a multiprocessor works through
};
DeepGemmGrid deep_gemm_grid(const DeepGemm& kernel, std::int64_t rows, std::int64_t columns,
                            std::int64_t multiprocessors);

inline constexpr int kDeepGemmStep = 128;  // of K

}  // namespace llmscape::hardware
