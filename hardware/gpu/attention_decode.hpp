// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/correction.hpp"
#include "models/operator.hpp"

#include <optional>

namespace llmscape::hardware {

// Thread blocks of a kernel of its own.
struct DecodeBlocks {
  Seconds launch;
  Seconds cta;
  BytesPerSecond cta_bandwidth;
  Seconds split;
};

// Kernels for tiles of 8, 16, 32 and more query rows of a group: what each doubling beyond 8 adds (TensorRT-LLM's of
// Blackwell, which FlashInfer has too), and how much heads of up to 64 differ.
struct DecodeTiles {
  Seconds launch;
  double cta = 0;     // share of a block's cost
  double narrow = 1;  // of a block's cost
};

// Parameters of decode attention with split KV (flash decoding). Caches are taken as cold: in serving the weights pass
// through L2 between two attentions.
struct DecodeAttentionParameters : Fit {
  double compute_efficiency = 0;  // share of the peak
  double memory_efficiency = 0;   // share of the memory bandwidth
  Seconds launch;
  Seconds cta;                   // cost of one more thread block on a multiprocessor
  BytesPerSecond cta_bandwidth;  // what one thread block can draw from memory
  Seconds split;                 // merging the parts of a split KV
  // FlashAttention 2 copies queries and outputs so that the query heads of a group become rows of one tile, and splits
  // KV only then: what the two copies cost a kernel of several sequences and KV heads. Absent: no copies
  // (FlashAttention 3), and KV is always split.
  std::optional<Seconds> packing;
  // With a window it packs no group: a block for each query head reads the keys by itself, as far as others have not
  // left them in L2, and all draw so much from there at most. Absent: windows change nothing (A100s, whose engines of
  // 2023 and 2024 ran other kernels, and whose table has no windows).
  std::optional<BytesPerSecond> l2_bandwidth;
  // What the block of the longest sequence draws after the others of an unsplit kernel have ended. Absent: no such
  // tail.
  std::optional<BytesPerSecond> tail_bandwidth;
  // Kernels that know no entries in 8 bits: the cache is written in 16 bits before it is read, so many of its bytes a
  // second. Absent: no such copy.
  std::optional<BytesPerSecond> widening;
  // Engines whose heads that share no keys run in another kernel than groups of them (TensorRT-LLM: masked multi-head
  // attention, a block for each head, beside XQA). Absent: in the same.
  std::optional<DecodeBlocks> ungrouped;
  // Of this kernel's times, where its rows told more of it than those of both kernels; absent: `correction` is of both.
  std::optional<Correction> ungrouped_correction;
  // Rows of the tile that a group of no more takes; absent: 64, as larger groups take multiples of.
  std::optional<std::int64_t> row_block;
  std::optional<DecodeTiles> row_tiles;                  // absent: blocks cost the same, whatever their rows
  std::int64_t most_sequences = 0, longest_context = 0;  // range of the fit
  models::AttentionKernel kernel = models::AttentionKernel::softmax;  // that the correction is of
  std::optional<Correction> correction;                               // of the form's times
};
const Fields<DecodeAttentionParameters>& decode_attention_fields();

// Whether each query head runs as if it shared its keys with no other (FlashAttention 2: where its kernel is told of a
// window).
inline bool apart(const DecodeAttentionParameters& p, const models::DecodeAttention& of) {
  return p.l2_bandwidth && of.masks;
}
// Whether they run in the kernel of heads that share no keys.
inline bool in_ungrouped(const DecodeAttentionParameters& p, const models::DecodeAttention& of) {
  return p.ungrouped && (of.heads == of.kv_heads || apart(p, of));
}
// The correction of what it takes, if any.
const Correction* correction_of(const DecodeAttentionParameters&, const models::DecodeAttention&);
// What that is looked up by: heads that run apart are no group.
Features features_of(const DecodeAttentionParameters&, const models::DecodeAttention&);

// Keys and values that the launch before has left in L2, as in tables timed by repeating one launch: caches well below
// `held` of L2 are read at `bandwidth`. Never so in serving.
struct WarmCache {
  BytesPerSecond bandwidth;
  double held = 0;  // share of L2
};

// What unequal contexts add to a kernel that does not split KV: the longest sequence beyond the mean, in one block.
Seconds attention_tail(const DecodeAttentionParameters&, const models::DecodeAttention&);

// Contexts may differ: bytes follow their sum, and a sequence much longer than the mean holds the kernel open.
KernelCost decode_attention_cost(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention&,
                                 const std::optional<WarmCache>& warm = {});

// The same, without its correction, for steps that differ in nothing but what they attend to: the rest is worked out
// once. `of` has sequences, and a head.
class DecodeAttentionForm {
 public:
  DecodeAttentionForm(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention& of);
  [[nodiscard]] KernelCost cost(const models::Attended&, const std::optional<WarmCache>& warm = {}) const;

  // Entries of a sequence.
  [[nodiscard]] double mean(const models::Attended& attended) const {
    return static_cast<double>(attended.sum) * share_;
  }

 private:
  // Thread blocks for each sequence and KV head, to fill the multiprocessors.
  [[nodiscard]] double splits(double context) const;
  // A kernel that splits KV into so many parts: its fixed time, seconds for a byte that its blocks draw and for an
  // entry that they compute, the cube of the seconds of its waves, seconds for an entry of a chain of blocks.
  struct Split {
    double kernel, byte, entry, scheduling, chain;
  };
  [[nodiscard]] Split split_into(double parts) const;

  const Chip* chip_;
  double sms_, bandwidth_, seconds_per_byte_;
  double queries_, sequences_;
  double streams_;        // of keys: KV heads, or query heads that run apart
  double readers_;        // of a KV head's keys, each by itself
  double work_;           // sequences x streams
  double share_;          // of a sequence
  double most_splits_;    // that the multiprocessors have room for; 1: KV is not split
  double entry_bytes_;    // stored of an entry and KV head
  double entries_bytes_;  // of an entry
  double widening_ = 0;   // seconds for a byte of the cache
  double rows_bytes_;     // queries and outputs
  double rows_seconds_;
  double entry_seconds_;                  // of all rows of a tile with an entry, on all multiprocessors
  double pair_flops_;                     // of all heads
  double block_bandwidth_, block_;        // of the kernel
  double causal_pairs_;                   // that the queries of one step leave out among themselves
  double split_kernel_, unsplit_kernel_;  // fixed times
  Seconds launch_;                        // of these, before the kernel's blocks run
  double tail_ = 0;                       // seconds for an entry of the longest beyond the mean
  Split unsplit_{};
};

}  // namespace llmscape::hardware
