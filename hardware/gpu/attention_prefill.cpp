// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_prefill.hpp"

#include "hardware/gpu/correction_features.hpp"
#include "hardware/gpu/l2_hits.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::hardware {
namespace {

constexpr double kPackingGain = 0.95;  // query heads of a group are packed into tiles only where that saves over 5 %
constexpr double kDecodeRows = 64;     // rows of the tile that a decode's query head takes, of which it fills one
constexpr double kPrefillElement = 2;
constexpr double kAppendPasses = 2;     // new keys and values are read and written once to append them to the cache
constexpr double kAppendThreads = 512;  // most of the block that appends a token, one for each element of its keys

// What the tiles of a kernel add up to. A block is the pairs of one tile with `edge` keys.
class TileWork {
 public:
  TileWork(const models::PrefillAttention& shape, const PrefillAttentionParameters& p)
      : shape_(shape), edge_(static_cast<double>(p.tile_edge)), packs_(!p.by_head),
        window_blocks_(shape.window > 0 ? blocks(static_cast<double>(shape.window)) + 1
                                        : std::numeric_limits<double>::infinity()) {}

  void add(const models::PrefillChunk& chunk) {
    const double n = static_cast<double>(chunk.tokens), c = static_cast<double>(chunk.cached);
    const double group = static_cast<double>(shape_.heads) / shape_.kv_heads;
    const double by_head = shape_.heads * blocks(n), packed = shape_.kv_heads * blocks(n * group);
    const double last_row = blocks(c + n);
    const double mean_row = n > edge_ ? mean_blocks(c / edge_, blocks(n)) : std::min(last_row, window_blocks_);
    add(packs_ && packed < kPackingGain * by_head ? packed : by_head, mean_row, last_row);
    ++sequences;
    queries += n;
    new_keys += n;
    context += n + c;
    keys += static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, shape_.window));
    pairs += models::windowed_pairs(chunk.tokens, chunk.cached, shape_.window);
  }

  void add(const models::DecodeAttention& decodes) {
    const double count = static_cast<double>(decodes.sequences), q = static_cast<double>(decodes.tokens_per_sequence);
    const double entries = static_cast<double>(decodes.attended.sum);
    const double tile_share = kDecodeRows / edge_;  // of a block's work
    add(count * shape_.heads * std::ceil(q / kDecodeRows),
        std::min(tile_share * blocks(entries / count), window_blocks_),
        tile_share * blocks(static_cast<double>(decodes.attended.max)));
    sequences += count;
    queries += count * q;
    pairs += q * entries - count * q * (q - 1) / 2;
  }

  double tiles = 0, tile_blocks = 0, longest = 0;  // longest: blocks of one tile
  double sequences = 0, queries = 0, pairs = 0;
  double keys = 0, new_keys = 0;  // read by chunks; computed by them
  double context = 0;             // of chunks, with what lies outside a window

 private:
  void add(double more_tiles, double mean_row, double last_row) {
    tiles += more_tiles;
    tile_blocks += more_tiles * mean_row;
    longest = std::max(longest, std::min(last_row, window_blocks_));
  }
  // Of rows of tiles behind `before` cached blocks: each has one more than the last, up to the window.
  [[nodiscard]] double mean_blocks(double before, double rows) const {
    const double growing = std::clamp(std::floor(window_blocks_ - before), 0.0, rows);
    const double grown = growing * (before + (growing + 1) / 2);
    return growing < rows ? (grown + (rows - growing) * window_blocks_) / rows : grown / rows;
  }
  [[nodiscard]] double blocks(double tokens) const { return std::ceil(tokens / edge_); }

  const models::PrefillAttention& shape_;
  const double edge_;
  const bool packs_;
  const double window_blocks_;
};

// Seconds that the tiles take.
double compute_time(const Chip& chip, const PrefillAttentionParameters& p, const models::PrefillAttention& shape,
                    const TileWork& work) {
  const double sms = static_cast<double>(*chip.multiprocessors);
  const double edge = static_cast<double>(p.tile_edge);
  const double block = edge * edge * (2.0 * (shape.head_dim + shape.value_width()) + p.softmax_flops) /
                       (p.compute_efficiency * chip.peak_bf16.value.si() / sms);
  const double waves = work.tiles / sms;
  const double spread = (work.tile_blocks * block + work.tiles * p.tile.si()) / sms *
                        (1 + p.wave_quantisation * (std::ceil(waves) / waves - 1));
  return std::max(spread, work.longest * block + p.tile.si());
}

// Keys of decodes are read while tiles compute, `compute` seconds: both bound the kernel, and share it near the
// crossing.
KernelCost cost_of(const Chip& chip, const PrefillAttentionParameters& p, const models::PrefillAttention& shape,
                   std::span<const models::PrefillChunk> chunks, const TileWork& work, double compute,
                   std::int64_t decode_keys) {
  if (work.tiles <= 0) return {};
  const double bandwidth = p.memory_efficiency * chip.hbm_bandwidth.value.si();
  const double score_width = shape.head_dim, value_width = shape.value_width();
  const double key_bytes = shape.kv_heads * shape.stored_bytes();
  // Each query head of a decode has its own tile.
  const double keys = static_cast<double>(decode_keys);
  const double passes = passes_over_keys(chip, static_cast<double>(shape.heads) / shape.kv_heads, work.sequences,
                                         keys * key_bytes / shape.kv_heads);
  const double decode_bytes = keys * key_bytes * passes;
  const double body = std::hypot(compute, decode_bytes / bandwidth);
  const double streamed = (work.keys + kAppendPasses * work.new_keys) * key_bytes +
                          work.queries * shape.heads * (score_width + value_width) * kPrefillElement;
  const Flops flops(2 * shape.heads * (score_width + value_width) * work.pairs);
  // Decodes in the kernel are corrected as its chunks are.
  const double factor = p.correction && shape.kernel == p.kernel ? p.correction->factor(features_of(shape, chunks)) : 1;
  const Seconds copied = p.widening ? Bytes(work.context * key_bytes) / *p.widening : Seconds();
  const double threads = std::min(1.0, shape.kv_heads * score_width / kAppendThreads);
  const Seconds appended = p.append ? work.new_keys * threads * *p.append : Seconds();
  const Seconds time = factor * (p.launch + Seconds(body + streamed / bandwidth) + copied + appended);
  return {time, flops, flops, Bytes(streamed + decode_bytes), Bytes(), Flops(), std::min(kLongestLaunch, p.launch)};
}

}  // namespace

KernelCost prefill_attention_cost(const Chip& chip, const PrefillAttentionParameters& p,
                                  const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  TileWork work(shape, p);
  for (const models::PrefillChunk& chunk : chunks) work.add(chunk);
  return cost_of(chip, p, shape, chunks, work, compute_time(chip, p, shape, work), 0);
}

KernelCost mixed_attention_cost(const Chip& chip, const PrefillAttentionParameters& p,
                                const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks,
                                const models::DecodeAttention& decodes) {
  TileWork work(shape, p);
  for (const models::PrefillChunk& chunk : chunks) work.add(chunk);
  // A wave takes as long as its tiles do in the mean: short tiles that fill it up make it no shorter.
  const double chunks_alone = compute_time(chip, p, shape, work);
  work.add(decodes);
  return cost_of(chip, p, shape, chunks, work, std::max(chunks_alone, compute_time(chip, p, shape, work)),
                 decodes.attended.sum);
}

const Fields<PrefillAttentionParameters>& prefill_attention_fields() {
  static const Fields<PrefillAttentionParameters> fields = [] {
    using P = PrefillAttentionParameters;
    Fields<P> f("prefill_attention", "causal attention of prompt chunks in square tiles");
    f.add("tile_edge", &P::tile_edge, "queries and keys of a tile").at_least(16).power_of_two();
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak; above 1 where softmax overlaps")
        .required()
        .above(0)
        .at_most(1.5);
    f.add("softmax_flops", &P::softmax_flops, "softmax of one query-key pair, in FLOP").required().at_least(0);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1.3);
    f.add("launch", &P::launch, "fixed time of the kernel").required().at_least(0);
    f.add("tile", &P::tile, "fixed cost of a tile").required().at_least(0);
    f.add("wave_quantisation", &P::wave_quantisation, "1 for classic waves, 0 for none").required().between(0, 1);
    f.add("by_head", &P::by_head,
          "a tile holds rows of one query head; else the heads of a group are packed into tiles");
    f.add("takes_decodes", &P::takes_decodes,
          "decodes beside a chunk run in this kernel, a tile for each query head (FlashAttention 2), where the engine "
          "has one call for both");
    f.add("widening", &P::widening,
          "bytes a second of keys and values that are written in 16 bits before they are read; absent: no such copy")
        .above(0);
    f.add("append", &P::append,
          "of a new token that a thread block writes into the cache, where its keys have 512 elements or more on the "
          "rank, in proportion below; absent: its bytes alone count")
        .above(0);
    f.add("most_tokens", &P::most_tokens, "range of the fit: longest chunk").required().at_least(1);
    f.add("longest_context", &P::longest_context, "range of the fit: longest chunk with its cache")
        .required()
        .at_least(1);
    add_correction_field(f);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
