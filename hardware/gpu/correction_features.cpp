// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/correction_features.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kTileRows = 256;
constexpr double kMostPadding = 2;
constexpr double kMostWindows = 128;  // that a chunk is counted to reach over
// Products of so few rows wait for their weights: multiprocessors without a block in the last wave leave their share of
// the bandwidth to the others.
constexpr double kMemoryBoundRows = 128;
constexpr double kNoWaves = 0.02;  // fewer than products of more rows fill

double tiles(double m, double n, double rows, double columns) { return std::ceil(m / rows) * std::ceil(n / columns); }

}  // namespace

Features features_of(const Chip& chip, const models::Gemm& gemm) {
  const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const double sms = static_cast<double>(*chip.multiprocessors);
  Features f;
  f.set(Feature::rows, m);
  f.set(Feature::columns, n);
  f.set(Feature::depth, static_cast<double>(gemm.k));
  f.set(Feature::padding, std::min(kMostPadding, kTileRows * std::ceil(m / kTileRows) / m));
  const bool computes = m > kMemoryBoundRows;
  f.set(Feature::wide_waves, computes ? tiles(m, n, 128, 256) / sms : kNoWaves);
  f.set(Feature::tall_waves, computes ? tiles(m, n, 256, 128) / sms : kNoWaves);
  f.set(Feature::bytes, gemm.weights.bytes);
  return f;
}

Features features_of(const models::GroupedGemm& gemm, bool tuned) {
  const double experts = std::max(1.0, gemm.experts_touched);
  Features f;
  f.set(Feature::rows, static_cast<double>(gemm.rows) / experts);
  f.set(Feature::experts, experts);
  f.set(Feature::tuned, tuned ? 4 : 1);
  f.set(Feature::columns, static_cast<double>(gemm.n));
  f.set(Feature::depth, static_cast<double>(gemm.k));
  f.set(Feature::bytes, gemm.weights.bytes);
  return f;
}

Features features_of(const models::DecodeAttention& attention) {
  const double sequences = static_cast<double>(attention.sequences), kv_heads = attention.kv_heads;
  Features f;
  const double context = static_cast<double>(attention.attended.sum) / sequences;
  f.set(Feature::sequences, sequences);
  f.set(Feature::context, context);
  const double halves = attention.window > 0 ? 2 * context / static_cast<double>(attention.window) : 1;
  f.set(Feature::cut, std::clamp(halves, 1.0, 2.0));
  f.set(Feature::kv_heads, kv_heads);
  f.set(Feature::streams, sequences * kv_heads);
  f.set(Feature::group, static_cast<double>(attention.tokens_per_sequence) * attention.heads / kv_heads);
  f.set(Feature::head_width, attention.head_dim);
  f.set(Feature::bytes, attention.kv.bytes());
  return f;
}

Features features_of(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  double tokens = 0, cached = 0;
  for (const models::PrefillChunk& chunk : chunks) {
    tokens += static_cast<double>(chunk.tokens);
    cached += static_cast<double>(chunk.cached);
  }
  const double sequences = static_cast<double>(chunks.size());
  Features f;
  f.set(Feature::sequences, sequences);
  f.set(Feature::tokens, tokens / sequences);
  f.set(Feature::reach, (tokens + cached) / tokens);
  const double windows = shape.window > 0 ? (tokens + cached) / sequences / static_cast<double>(shape.window) : 1;
  f.set(Feature::cut, std::clamp(windows, 1.0, kMostWindows));
  f.set(Feature::heads, sequences * shape.heads);
  f.set(Feature::kv_heads, shape.kv_heads);
  f.set(Feature::group, static_cast<double>(shape.heads) / shape.kv_heads);
  f.set(Feature::head_width, shape.head_dim);
  f.set(Feature::bytes, shape.kv.bytes());
  return f;
}

}  // namespace llmscape::hardware
