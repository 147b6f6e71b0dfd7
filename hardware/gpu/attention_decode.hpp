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
  std::optional<std::int64_t> part_keys;  // of one part at least; absent: 128
};

// How TensorRT-LLM's kernel of groups of Hopper (XQA) splits keys: over several waves of blocks, and by the whole
// context, whether a window cuts it or not. Launches that would fill less than a share of the multiprocessors run in
// the kernel of heads that share no keys, a block for each query head (XQA's decision whether it is worth it).
struct DecodeWaves {
  double waves = 0;       // blocks for each multiprocessor
  double least_fill = 0;  // share of the multiprocessors
  double part = 1;        // cost of a block beyond the first of its keys, as a share of the first's
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
  std::optional<DecodeWaves> split_waves;  // absent: keys are split over the multiprocessors once
  // Of the ungrouped kernel's times, where its rows told more of it than those of both kernels; absent: `correction` is
  // of both.
  std::optional<Correction> ungrouped_correction;
  // Rows of the tile that a group of no more takes; absent: 64, as larger groups take multiples of.
  std::optional<std::int64_t> row_block;
  std::optional<DecodeTiles> row_tiles;                  // absent: blocks cost the same, whatever their rows
  std::int64_t most_sequences = 0, longest_context = 0;  // range of the fit
  models::AttentionKernel kernel = models::AttentionKernel::softmax;  // that the correction is of
  std::optional<Correction> correction;                               // of the form's times
};
const Fields<DecodeAttentionParameters>& decode_attention_fields();

// Entries of a context, in the mean and before a window cuts it, from which a group's heads share what they read;
// below, each runs as if it shared its keys with no other. Never: infinite (FlashAttention 2, told of a window).
double grouped_from(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention&);
// Whether they do not.
bool apart(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention&);
// Of heads that run apart or not: the correction of what it takes, if any, and what that is looked up by: heads that
// run apart are no group.
const Correction* correction_of(const DecodeAttentionParameters&, const models::DecodeAttention&, bool apart);
Features features_of(const models::DecodeAttention&, bool apart);

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
// once. `of` has sequences, and a head; its heads run apart or not.
class DecodeAttentionForm {
 public:
  DecodeAttentionForm(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention& of, bool apart);
  // `contexts`: entries before a window cuts them, where there are more.
  [[nodiscard]] KernelCost cost(const models::Attended&, std::int64_t contexts,
                                const std::optional<WarmCache>& warm = {}) const;

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
  double streams_;                // of keys: KV heads, or query heads that run apart
  double readers_;                // of a KV head's keys, each by itself
  double work_;                   // sequences x streams
  double share_;                  // of a sequence
  double most_splits_;            // that the multiprocessors have room for; 1: KV is not split
  double part_keys_;              // of one part at least
  double part_cost_ = 1;          // of a block beyond the first of its keys, as a share of the first's
  bool splits_contexts_ = false;  // whole ones, whatever a window leaves of them
  bool reads_again_ = false;      // each reader, as far as others have not left its keys in L2
  double entry_bytes_;            // stored of an entry and KV head
  double entries_bytes_;          // of an entry
  double widening_ = 0;           // seconds for a byte of the cache
  double rows_bytes_;             // queries and outputs
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
