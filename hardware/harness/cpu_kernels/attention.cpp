// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/attention.hpp"

#include "hardware/harness/cpu_kernels/vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace llmscape::hardware::harness::cpu_kernels {
namespace {

constexpr std::int64_t kBlock = PagedKv::kBlockTokens;
static_assert(kBlock == kLanes);
constexpr std::int64_t kPanel = 8 * kBlock;  // keys between two updates of the running softmax
constexpr int kMostRows = 12;                // query rows that share the loads of a key block
constexpr float kMasked = -1e30F;
// Rows of the scratch arrays are so far apart that they do not fall on the same cache sets.
constexpr std::int64_t kQueryStride = kWidestHead + kLanes, kScoreStride = kPanel + kLanes;

// Query rows of one KV head: some heads of some tokens. Where `rows` are fewer than the code's, the others are like the
// last one and thrown away.
struct Tile {
  int rows = 0;
  std::array<const float*, kMostRows> queries;
  std::array<float*, kMostRows> outputs;
  std::array<std::int64_t, kMostRows> limits;  // keys that the row sees
};

struct alignas(64) Scratch {
  std::array<float, kMostRows * kQueryStride> queries;  // scaled, for powers of two
  std::array<float, kMostRows * kQueryStride> outputs;  // before the division by the sums
  std::array<float, kMostRows * kScoreStride> scores;
  std::array<float, kMostRows> largest, sums;
};

// c[r] += sum over i < depth of a[r][i] * b[i], b[i] being 16 floats wide.
template <int kRows>
[[gnu::always_inline]] inline void accumulate(Vector (&c)[kRows], const float* a, std::int64_t a_stride, const float* b,
                                              std::int64_t b_stride, std::int64_t depth) {
  for (std::int64_t i = 0; i < depth; ++i) {
    Vector right;
    load(right, b + i * b_stride);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) c[r] += a[r * a_stride + i] * right;
  }
}

// Scores of the tile's rows against one block of keys.
template <int kRows>
[[gnu::always_inline]] inline void score_block(Scratch& scratch, const float* keys, std::int64_t width,
                                               std::int64_t first_key, std::int64_t column, const Tile& tile) {
  Vector scores[kRows] = {};
  accumulate<kRows>(scores, scratch.queries.data(), kQueryStride, keys, kLanes, width);
  constexpr Integers kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    const auto seen = static_cast<std::int32_t>(std::clamp<std::int64_t>(tile.limits[r] - first_key, 0, kBlock));
    scores[r] = kLane < seen ? scores[r] : Vector{} + kMasked;
    store(scratch.scores.data() + r * kScoreStride + column, scores[r]);
  }
}

// Turns the scores of a panel into weights, and what has been summed up so far to the new largest score.
[[gnu::always_inline]] inline void soften(Scratch& scratch, int row, std::int64_t keys, std::int64_t width) {
  float* scores = scratch.scores.data() + row * kScoreStride;
  Vector highest, weights;
  load(highest, scores);
  for (std::int64_t i = kLanes; i < keys; i += kLanes) {
    load(weights, scores + i);
    maximise(highest, weights);
  }
  const float before = scratch.largest[row], now = std::max(before, largest(highest));
  Vector total = {};
  for (std::int64_t i = 0; i < keys; i += kLanes) {
    load(weights, scores + i);
    weights -= now;
    raise_two(weights);
    total += weights;
    store(scores + i, weights);
  }
  Vector rescale = Vector{} + (before - now);
  raise_two(rescale);
  scratch.largest[row] = now;
  scratch.sums[row] = scratch.sums[row] * rescale[0] + sum(total);
  float* outputs = scratch.outputs.data() + row * kQueryStride;
  for (std::int64_t i = 0; i < width; i += kLanes) {
    Vector output;
    load(output, outputs + i);
    store(outputs + i, output * rescale[0]);
  }
}

// Adds the values of one block of keys, weighted.
template <int kRows>
[[gnu::always_inline]] inline void add_values(Scratch& scratch, const float* values, std::int64_t width,
                                              std::int64_t column) {
  for (std::int64_t i = 0; i < width; i += kLanes) {
    Vector outputs[kRows];
    float* to = scratch.outputs.data() + i;
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) load(outputs[r], to + r * kQueryStride);
    accumulate<kRows>(outputs, scratch.scores.data() + column, kScoreStride, values + i, width, kBlock);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) store(to + r * kQueryStride, outputs[r]);
  }
}

template <int kRows>
[[gnu::always_inline]] inline void attend(const PagedKv& kv, std::span<const std::int32_t> table, std::int64_t kv_head,
                                          const Tile& tile) {
  const std::int64_t width = kv.head_dim();
  Scratch scratch;
  const float scale = std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(width));
  for (int r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < width; ++i) {
      scratch.queries[r * kQueryStride + i] = tile.queries[r][i] * scale;
      scratch.outputs[r * kQueryStride + i] = 0;
    }
    scratch.largest[r] = kMasked;
    scratch.sums[r] = 0;
  }
  const std::int64_t keys = *std::max_element(tile.limits.begin(), tile.limits.begin() + kRows);
  for (std::int64_t panel = 0; panel < keys; panel += kPanel) {
    const std::int64_t end = std::min(panel + kPanel, keys);
    for (std::int64_t key = panel; key < end; key += kBlock)
      score_block<kRows>(scratch, kv.keys(table[key / kBlock], kv_head), width, key, key - panel, tile);
    const std::int64_t filled = (end - panel + kBlock - 1) / kBlock * kBlock;
    for (int r = 0; r < kRows; ++r) soften(scratch, r, filled, width);
    for (std::int64_t key = panel; key < end; key += kBlock)
      add_values<kRows>(scratch, kv.values(table[key / kBlock], kv_head), width, key - panel);
  }
  for (int r = 0; r < tile.rows; ++r)
    for (std::int64_t i = 0; i < width; ++i)
      tile.outputs[r][i] = scratch.outputs[r * kQueryStride + i] / scratch.sums[r];
}

LLMSCAPE_EACH_VECTOR_LENGTH
void attend(const PagedKv& kv, std::span<const std::int32_t> table, std::int64_t kv_head, const Tile& tile) {
  if (tile.rows == 1) return attend<1>(kv, table, kv_head, tile);
  if (tile.rows == 2) return attend<2>(kv, table, kv_head, tile);
  if (tile.rows <= 4) return attend<4>(kv, table, kv_head, tile);
  if (tile.rows <= 8) return attend<8>(kv, table, kv_head, tile);
  return attend<kMostRows>(kv, table, kv_head, tile);
}

// Consecutive tokens of one sequence, the first of which sees `first_limit` keys and each of the others one more.
void attend_rows(const PagedKv& kv, Rows<const float> queries, std::span<const std::int32_t> table,
                 std::int64_t first_limit, Rows<float> outputs) {
  const std::int64_t group = queries.width / kv.head_dim() / kv.kv_heads();
  for (std::int64_t kv_head = 0; kv_head < kv.kv_heads(); ++kv_head) {
    const std::int64_t all = queries.rows * group;
    Tile tile;
    for (std::int64_t first = 0; first < all; first += tile.rows) {
      tile.rows = static_cast<int>(std::min<std::int64_t>(all - first, kMostRows));
      for (int r = 0; r < kMostRows; ++r) {
        const std::int64_t row = std::min(first + r, all - 1);
        const std::int64_t token = row / group, head = kv_head * group + row % group;
        tile.queries[r] = queries[token].data() + head * kv.head_dim();
        tile.outputs[r] = outputs[token].data() + head * kv.head_dim();
        tile.limits[r] = first_limit + token;
      }
      attend(kv, table, kv_head, tile);
    }
  }
}

}  // namespace

void paged_decode_attention(const PagedKv& kv, Rows<const float> queries,
                            std::span<const std::span<const std::int32_t>> tables,
                            std::span<const std::int64_t> contexts, Rows<float> outputs) {
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    attend_rows(kv, {queries[row].data(), 1, queries.width, queries.stride}, tables[i], contexts[i],
                {outputs[row].data(), 1, outputs.width, outputs.stride});
  }
}

void paged_prefill_attention(const PagedKv& kv, Rows<const float> queries, std::span<const std::int32_t> table,
                             std::int64_t cached, Rows<float> outputs) {
  attend_rows(kv, queries, table, cached + 1, outputs);
}

}  // namespace llmscape::hardware::harness::cpu_kernels
