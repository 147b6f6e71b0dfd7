// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_decode.hpp"

#include "base/cube_root.hpp"
#include "hardware/gpu/correction_features.hpp"

#include "hardware/gpu/l2_hits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::hardware {
namespace {

constexpr std::int64_t kPartKeys = 128;  // of one part of a split KV at least
constexpr double kMostSplits = 128;
constexpr double kRowBlock = 64;  // query rows of one matrix instruction tile
constexpr double kLeastRows = 8;  // of the smallest of several tiles
constexpr int kNarrowHead = 64;
constexpr double kFullShare = 0.8;  // above this share of the multiprocessors the KV is not split
constexpr double kSplitSlots = 2;   // thread blocks a multiprocessor that FlashAttention 2 splits KV for
constexpr double kActivationBytes = 2;

// Seconds for a byte of the cache, of which a share is found in L2.
double seconds_per_byte(const Chip& chip, double bandwidth, double kv_bytes, const WarmCache& warm) {
  const double hits = l2_hits(chip, kv_bytes, warm.held);
  return (1 - hits) / bandwidth + hits / warm.bandwidth.si();
}

// Whether it runs in the kernel of heads that share no keys.
bool in_ungrouped(const DecodeAttentionParameters& p, const models::DecodeAttention& of, bool apart) {
  return p.ungrouped && (apart || of.heads == of.kv_heads);
}

DecodeBlocks blocks_of(const DecodeAttentionParameters& p, const models::DecodeAttention& of, bool apart) {
  if (in_ungrouped(p, of, apart)) return *p.ungrouped;
  return {p.launch, p.cta, p.cta_bandwidth, p.split, std::nullopt};
}

// Query rows that a matrix instruction computes for `rows` of them.
double padded_rows(const DecodeAttentionParameters& p, double rows) {
  const double least = p.row_block ? static_cast<double>(*p.row_block) : 0;
  return rows <= least ? least : kRowBlock * std::ceil(rows / kRowBlock);
}

// The blocks of tiles of so many rows.
DecodeBlocks tiled(DecodeBlocks blocks, const DecodeTiles& tiles, double rows, int head_dim) {
  const double doublings = std::ceil(std::log2(std::max(1.0, std::ceil(rows / kLeastRows))));
  blocks.launch += doublings * tiles.launch;
  blocks.cta *= (1 + doublings * tiles.cta) * (head_dim <= kNarrowHead ? tiles.narrow : 1);
  return blocks;
}

const Fields<DecodeBlocks>& block_fields() {
  static const Fields<DecodeBlocks> fields = [] {
    using P = DecodeBlocks;
    Fields<P> f("blocks", "thread blocks of a kernel of its own");
    f.add("launch", &P::launch, "fixed time of the kernel").required().at_least(0);
    f.add("cta", &P::cta, "cost of one more thread block on a multiprocessor").required().at_least(0);
    f.add("cta_bandwidth", &P::cta_bandwidth, "memory bandwidth that one thread block can draw").required().above(0);
    f.add("split", &P::split, "merging the parts of a split KV").required().at_least(0);
    f.add("part_keys", &P::part_keys, "keys of one part at least; absent: 128").at_least(1);
    return f;
  }();
  return fields;
}

const Fields<DecodeWaves>& wave_fields() {
  static const Fields<DecodeWaves> fields = [] {
    using P = DecodeWaves;
    Fields<P> f("decode_waves", "how a kernel splits the keys of groups over several waves of blocks");
    f.add("waves", &P::waves, "blocks for each multiprocessor that whole contexts are split over").required().above(0);
    f.add("least_fill", &P::least_fill,
          "share of the multiprocessors that it must fill; below, the kernel of heads that share no keys is taken")
        .required()
        .at_least(0);
    f.add("part", &P::part, "cost of a block beyond the first of its keys, as a share of the first's")
        .required()
        .at_least(0);
    return f;
  }();
  return fields;
}

const Fields<DecodeTiles>& tile_fields() {
  static const Fields<DecodeTiles> fields = [] {
    using P = DecodeTiles;
    Fields<P> f("decode_tiles", "kernels for tiles of 8, 16, 32 and more query rows of a group");
    f.add("launch", &P::launch, "added to the fixed time by each doubling beyond 8 rows").required().at_least(0);
    f.add("cta", &P::cta, "added to a block's cost by each doubling, as a share of it").required().at_least(0);
    f.add("narrow", &P::narrow, "factor on a block's cost of heads of up to 64").required().above(0);
    return f;
  }();
  return fields;
}

}  // namespace

DecodeAttentionForm::DecodeAttentionForm(const Chip& chip, const DecodeAttentionParameters& p,
                                         const models::DecodeAttention& of, bool apart)
    : chip_(&chip), sms_(static_cast<double>(*chip.multiprocessors)),
      bandwidth_(p.memory_efficiency * chip.hbm_bandwidth.value.si()), seconds_per_byte_(1 / bandwidth_),
      queries_(static_cast<double>(of.tokens_per_sequence)), sequences_(static_cast<double>(of.sequences)),
      streams_(apart ? of.heads : of.kv_heads), readers_(streams_ / of.kv_heads), work_(sequences_ * streams_),
      share_(1 / sequences_), entry_bytes_(of.stored_bytes()), entries_bytes_(of.kv_heads * entry_bytes_) {
  const double rows = queries_ * of.heads / streams_;  // of a tile
  DecodeBlocks blocks = blocks_of(p, of, apart);
  if (p.row_tiles) blocks = tiled(blocks, *p.row_tiles, rows, of.head_dim);
  block_bandwidth_ = blocks.cta_bandwidth.si();
  block_ = blocks.cta.si();
  // Width of a query against a key, and of a value.
  const double score_width = of.head_dim, value_width = of.value_width();
  const bool grouped = of.heads > streams_;
  double slots = !p.packing ? sms_ : grouped ? kSplitSlots * sms_ : 0;
  if (p.split_waves && grouped) {
    slots = p.split_waves->waves * sms_;
    part_cost_ = p.split_waves->part;
    splits_contexts_ = true;
  }
  part_keys_ = static_cast<double>(blocks.part_keys.value_or(kPartKeys));
  most_splits_ = work_ > kFullShare * slots ? 1 : std::min(std::floor(slots / work_), kMostSplits);
  rows_bytes_ = sequences_ * queries_ * of.heads * (score_width + value_width) * kActivationBytes;
  rows_seconds_ = rows_bytes_ / bandwidth_;
  const double row_flops = 2 * (score_width + value_width) * padded_rows(p, rows);
  entry_seconds_ = row_flops * streams_ / (p.compute_efficiency * chip.peak_bf16.value.si());
  pair_flops_ = 2 * of.heads * (score_width + value_width);
  causal_pairs_ = sequences_ * queries_ * (queries_ - 1) / 2;
  const bool copies = p.packing && grouped && sequences_ > 1 && of.kv_heads > 1;
  const double packing = copies ? p.packing->si() : 0;
  launch_ = std::min(kLongestLaunch, blocks.launch);
  unsplit_kernel_ = blocks.launch.si() + packing;
  split_kernel_ = blocks.launch.si() + blocks.split.si() + packing;
  if (p.widening) widening_ = 1 / p.widening->si();
  if (p.tail_bandwidth) tail_ = entry_bytes_ / p.tail_bandwidth->si();
  unsplit_ = split_into(1);
  // Heads that run apart split no KV in FlashAttention 2.
  reads_again_ = readers_ > 1 && p.l2_bandwidth;
  if (reads_again_) unsplit_.byte = std::max(unsplit_.byte, readers_ / p.l2_bandwidth->si());
}

DecodeAttentionForm::Split DecodeAttentionForm::split_into(double parts) const {
  const double blocks = work_ * parts, waves = blocks / sms_;
  const double scheduling = std::max(0.0, work_ * (1 + (parts - 1) * part_cost_) / sms_ - 1) * block_;
  return {parts > 1 ? split_kernel_ : unsplit_kernel_, readers_ / (std::min(blocks, sms_) * block_bandwidth_),
          entry_seconds_ / std::min(1.0, waves), scheduling * scheduling * scheduling,
          entry_bytes_ / (parts * block_bandwidth_)};
}

double DecodeAttentionForm::splits(double context) const {
  if (most_splits_ <= 1) return 1;
  // Rounded down: no context is below 0.
  return std::max(1.0, std::min(most_splits_, static_cast<double>(static_cast<std::int64_t>(context / part_keys_))));
}

KernelCost DecodeAttentionForm::cost(const models::Attended& attended, std::int64_t contexts,
                                     const std::optional<WarmCache>& warm) const {
  const double entries = static_cast<double>(attended.sum), mean = entries * share_;
  const bool beyond = splits_contexts_ && contexts > attended.sum;
  // Not of the mean by the reciprocal: a context of whole blocks must not lose one to rounding.
  const double parts = most_splits_ > 1 ? splits((beyond ? static_cast<double>(contexts) : entries) / sequences_) : 1;
  const Split split = parts > 1 ? split_into(parts) : unsplit_;
  const double kv_bytes = entries * entries_bytes_;
  const double passes = reads_again_ ? passes_over_keys(*chip_, readers_, sequences_, entries * entry_bytes_) : 1;
  const double per_byte =
      warm ? seconds_per_byte(*chip_, bandwidth_ / passes, kv_bytes, *warm) : passes * seconds_per_byte_;
  const double memory = kv_bytes * std::max(per_byte, split.byte);
  const double compute = entries * split.entry;
  const double body = cube_root(split.scheduling + memory * memory * memory + compute * compute * compute);

  const double longest = static_cast<double>(attended.max), parts_of_longest = beyond ? parts : splits(longest);
  const double chain =
      longest * (parts_of_longest == parts ? split.chain : entry_bytes_ / (parts_of_longest * block_bandwidth_));
  const double tail = parts > 1 ? 0 : (longest - mean) * tail_;
  const double seconds = split.kernel + body + std::max(tail, chain - body) + rows_seconds_ + kv_bytes * widening_;
  const Flops flops(pair_flops_ * (queries_ * entries - causal_pairs_));
  return {Seconds(seconds), flops, flops, Bytes(kv_bytes * passes + rows_bytes_), Bytes(), Flops(), launch_};
}

double grouped_from(const Chip& chip, const DecodeAttentionParameters& p, const models::DecodeAttention& of) {
  if (of.heads == of.kv_heads) return 0;
  if (p.l2_bandwidth && of.masks) return std::numeric_limits<double>::infinity();
  if (!p.split_waves) return 0;
  const double parts = std::ceil(p.split_waves->least_fill * static_cast<double>(*chip.multiprocessors) /
                                 (static_cast<double>(of.sequences) * of.kv_heads));
  return parts > 1 ? parts * static_cast<double>(kPartKeys) : 0;
}

bool apart(const Chip& chip, const DecodeAttentionParameters& p, const models::DecodeAttention& of) {
  return of.mean_context() < grouped_from(chip, p, of);
}

const Correction* correction_of(const DecodeAttentionParameters& p, const models::DecodeAttention& of, bool apart) {
  if (of.kernel != p.kernel) return nullptr;
  if (p.ungrouped_correction && in_ungrouped(p, of, apart)) return &*p.ungrouped_correction;
  return p.correction ? &*p.correction : nullptr;
}

Features features_of(const models::DecodeAttention& of, bool apart) {
  if (!apart) return features_of(of);
  models::DecodeAttention heads = of;
  heads.kv_heads = of.heads;
  return features_of(heads);
}

KernelCost decode_attention_cost(const Chip& chip, const DecodeAttentionParameters& p, const models::DecodeAttention& a,
                                 const std::optional<WarmCache>& warm) {
  if (a.sequences <= 0) return {};
  const bool alone = apart(chip, p, a);
  KernelCost cost = DecodeAttentionForm(chip, p, a, alone).cost(a.attended, a.contexts, warm);
  if (const Correction* correction = correction_of(p, a, alone)) cost.time *= correction->factor(features_of(a, alone));
  return cost;
}

Seconds attention_tail(const DecodeAttentionParameters& p, const models::DecodeAttention& a) {
  if (!p.tail_bandwidth || a.sequences <= 0) return {};
  const double mean = static_cast<double>(a.attended.sum) / static_cast<double>(a.sequences);
  return Bytes((static_cast<double>(a.attended.max) - mean) * a.stored_bytes()) / *p.tail_bandwidth;
}

const Fields<DecodeAttentionParameters>& decode_attention_fields() {
  static const Fields<DecodeAttentionParameters> fields = [] {
    using P = DecodeAttentionParameters;
    Fields<P> f("decode_attention", "attention of decoding sequences over a paged KV cache, split over thread blocks");
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak").required().above(0).at_most(1.5);
    f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1.3);
    f.add("launch", &P::launch, "fixed time of the kernel").required().at_least(0);
    f.add("cta", &P::cta, "cost of one more thread block on a multiprocessor").required().at_least(0);
    f.add("cta_bandwidth", &P::cta_bandwidth, "memory bandwidth that one thread block can draw").required().above(0);
    f.add("split", &P::split, "merging the parts of a split KV").required().at_least(0);
    f.add("packing", &P::packing,
          "FlashAttention 2: copying queries and outputs to pack the heads of a group, without which KV is not split")
        .at_least(0);
    f.add("l2_bandwidth", &P::l2_bandwidth,
          "drawn from L2 by all heads of a kernel with `packing` and a window, which keeps it from packing them; "
          "absent: windows change nothing")
        .above(0);
    f.add("tail_bandwidth", &P::tail_bandwidth,
          "drawn by the longest sequence's block after the others of a kernel that does not split KV; absent: no tail")
        .above(0);
    f.add("widening", &P::widening,
          "bytes a second of a cache that is written in 16 bits before it is read; absent: no such copy")
        .above(0);
    f.add_group("ungrouped", &P::ungrouped, block_fields(),
                "of heads that share no keys, where these run in another kernel than groups of them");
    f.add(
         "row_block", &P::row_block,
         "query rows of the tile that a group of no more takes, where it is smaller than that of 64; absent: it is not")
        .at_least(1);
    f.add_group("split_waves", &P::split_waves, wave_fields(),
                "splitting keys of groups over several waves of blocks (TensorRT-LLM on Hopper); absent: over one");
    f.add_group("row_tiles", &P::row_tiles, tile_fields(),
                "kernels by the query rows of a group (Blackwell); absent: blocks cost the same, whatever their rows");
    f.add("most_sequences", &P::most_sequences, "range of the fit: most sequences").required().at_least(1);
    f.add("longest_context", &P::longest_context, "range of the fit: longest context in tokens").required().at_least(1);
    add_correction_field(f);
    f.add_group("ungrouped_correction", &P::ungrouped_correction, correction_fields(),
                "the same of the kernel of heads that share no keys; absent: `correction` is of both");
    f.check([](const P& p, const YamlNode& node, Diagnostics& diagnostics) {
      if (p.ungrouped_correction && !p.ungrouped)
        diagnostics.error(node.find("ungrouped_correction")->where,
                          "there is no 'ungrouped' kernel that it could correct");
      if (p.l2_bandwidth && !p.packing)
        diagnostics.error(node.find("l2_bandwidth")->where, "it is of kernels with 'packing'");
      if (p.split_waves && (p.packing || !p.ungrouped))
        diagnostics.error(node.find("split_waves")->where,
                          "it is of kernels without 'packing' beside an 'ungrouped' one");
    });
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
