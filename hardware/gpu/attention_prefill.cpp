// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_prefill.hpp"

#include "models/attention_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::hardware {
namespace {

constexpr double kBlock = 128;             // queries and keys of a tile
constexpr double kPackingGain = 0.95;      // query heads of a group are packed into tiles only where that saves over 5 %
constexpr double kActivationBytes = 2;

double blocks(double tokens) { return std::ceil(tokens / kBlock); }

}  // namespace

KernelCost prefill_attention_cost(const Chip& chip, const PrefillAttentionParameters& p,
                                  const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  if (chunks.empty()) return {};
  const double sms = static_cast<double>(*chip.multiprocessors);
  const double score_width = shape.head_dim, value_width = shape.mla ? shape.v_dim : shape.head_dim;
  // Absorbed latent attention: all heads share one latent, whose first part is the value.
  const double entry_width = shape.mla && shape.kv_heads < shape.heads ? score_width : score_width + value_width;
  const double group = static_cast<double>(shape.heads) / shape.kv_heads;
  const double window_blocks =
      shape.window > 0 ? blocks(static_cast<double>(shape.window)) + 1 : std::numeric_limits<double>::infinity();
  const double pair = kBlock * kBlock * (2 * (score_width + value_width) + p.softmax_flops) /
                      (p.compute_efficiency * chip.peak_bf16.value.si() / sms);

  double tiles = 0, tile_seconds = 0, longest = 0, keys = 0, tokens = 0, pairs = 0;
  for (const models::PrefillChunk& chunk : chunks) {
    const double n = static_cast<double>(chunk.tokens), c = static_cast<double>(chunk.cached);
    const double by_head = shape.heads * blocks(n), packed = shape.kv_heads * blocks(n * group);
    const double chunk_tiles = packed < kPackingGain * by_head ? packed : by_head;
    const double last_row = blocks(c + n);
    const double mean_row = n > kBlock ? c / kBlock + (blocks(n) + 1) / 2 : last_row;
    tiles += chunk_tiles;
    tile_seconds += chunk_tiles * (std::min(mean_row, window_blocks) * pair + p.tile.si());
    longest = std::max(longest, std::min(last_row, window_blocks));
    keys += static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, shape.window));
    tokens += n;
    pairs += models::windowed_pairs(chunk.tokens, chunk.cached, shape.window);
  }
  if (tokens <= 0) return {};
  const double waves = tiles / sms;
  const double spread = tile_seconds / sms * (1 + p.wave_quantisation * (std::ceil(waves) / waves - 1));
  const double bytes = keys * shape.kv_heads * entry_width * shape.kv.bytes_with_scales() +
                       tokens * shape.heads * (score_width + value_width) * kActivationBytes;
  const double seconds = p.launch.si() + std::max(spread, longest * pair + p.tile.si()) +
                         bytes / (p.memory_efficiency * chip.hbm_bandwidth.value.si());
  const Flops flops(2 * shape.heads * (score_width + value_width) * pairs);
  return {Seconds(seconds), flops, flops, Bytes(bytes)};
}

const Fields<PrefillAttentionParameters>& prefill_attention_fields() {
  static const Fields<PrefillAttentionParameters> fields = [] {
    using P = PrefillAttentionParameters;
    Fields<P> f("prefill_attention", "causal attention of prompt chunks in tiles of 128 by 128");
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak; above 1 where softmax overlaps").required().above(0).at_most(1.5);
    f.add("softmax_flops", &P::softmax_flops, "softmax of one query-key pair, in FLOP").required().at_least(0);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1.3);
    f.add("launch", &P::launch, "fixed time of the kernel").required().at_least(0);
    f.add("tile", &P::tile, "fixed cost of a tile").required().at_least(0);
    f.add("wave_quantisation", &P::wave_quantisation, "1 for classic waves, 0 for none").required().between(0, 1);
    f.add("most_tokens", &P::most_tokens, "range of the fit: longest chunk").required().at_least(1);
    f.add("longest_context", &P::longest_context, "range of the fit: longest chunk with its cache").required().at_least(1);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
