// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/paged_kv.hpp"

#include <algorithm>

namespace llmscape::hardware::harness::cuda {

// Index arithmetic of the kernels with tensor cores, shared by the GPU and by tests on the host.

inline constexpr int kWarp = 32;
inline constexpr int kChunk = 8;  // bf16 in one 16-byte access

// Where a chunk of a row stands in shared memory, in elements. Rows of `width` elements (a multiple of 64) follow each
// other; within a row the chunks are permuted so that the same chunk of eight rows lies in different banks.
constexpr int swizzled(int row, int chunk, int width) { return row * width + (chunk ^ (row & 7)) * kChunk; }

// The same in panels of 64 columns, one behind the other, each with `rows` rows: as group_multiply_add wants them.
inline constexpr int kPanel = 64;
constexpr int panelled(int row, int chunk, int rows) {
  return chunk / (kPanel / kChunk) * rows * kPanel + swizzled(row, chunk % (kPanel / kChunk), kPanel);
}

// The row that a lane names to load_matrices for a 16 x 16 tile whose upper left corner is (row, chunk): matrices 0 and
// 1 are its left half, 2 and 3 its right one. As operand a of multiply_add the four registers are a[0..3].
constexpr int tile_row(int lane) { return lane % 16; }
constexpr int tile_chunk(int lane) { return lane / 16; }

// The same as an offset into swizzled rows, for the tile whose upper left corner is (row, column), both multiples of
// 16: one exclusive or per column, where swizzled() would take several steps.
constexpr int tile_offset(int lane_offset, int row, int column, int width) {
  return (lane_offset ^ column) + row * width;
}
constexpr int lane_offset(int lane, int width) { return swizzled(tile_row(lane), tile_chunk(lane), width); }

// Half-open.
struct Range {
  int begin, end;
};

// Blocks of keys that part `split` of `splits` has of a sequence of `context` tokens.
constexpr Range split_range(int context, int split, int splits) {
  const int blocks = blocks_for(context), share = (blocks + splits - 1) / splits;
  return {std::min(split * share, blocks), std::min((split + 1) * share, blocks)};
}

// Rows of a prefill tile: the `group` query heads of one KV head for one token, then those of the next.
struct QueryRow {
  int token, head;  // of the chunk; within the group
};
constexpr QueryRow query_row(int row, int group) { return {row / group, row % group}; }

// The keys that rows up to `row` of a chunk see that ends a sequence of `context` tokens.
constexpr int visible_keys(int row, int group, int chunk, int context) { return context - chunk + row / group + 1; }

}  // namespace llmscape::hardware::harness::cuda
