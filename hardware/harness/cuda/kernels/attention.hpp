// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/paged_kv.hpp"
#include "hardware/harness/cuda/runtime.hpp"

namespace llmscape::hardware::harness::cuda {

// Queries and outputs are [rows][heads][head_dim], bf16; head_dim is 64 or 128; `scale` multiplies the scores. A KV
// head serves heads / kv_heads query heads, at most kLargestGroup.
inline constexpr int kLargestGroup = 16;

struct AttentionShape {
  int heads = 0;
  float scale = 0;  // usually 1 / sqrt(head_dim)
};

// One query of each sequence over all its keys: row s of the queries belongs to sequence s of `kv`, which holds
// contexts[s] tokens, the new one included; at least one. The keys of a sequence are dealt out to `splits` blocks.
struct DecodeAttention {
  AttentionShape shape;
  PagedKv kv;
  const Bf16* queries = nullptr;
  const int* contexts = nullptr;  // on the device, [sequences]
  Bf16* out = nullptr;
  float* workspace = nullptr;  // decode_workspace_floats() of them where splits > 1
  int sequences = 0, splits = 1;
};
// How many splits fill `multiprocessors` best, for sequences of up to `context` tokens.
int decode_splits(int multiprocessors, int sequences, int kv_heads, int context);
long decode_workspace_floats(int sequences, int heads, int head_dim, int splits);
void decode_attention(const DecodeAttention& work, Stream stream);

// Prompt chunks of several sequences: rows first_row[s] to first_row[s + 1] of the queries are the last tokens of
// sequence s, which holds contexts[s] tokens, the chunk included. A token sees itself and what stands before it.
struct PrefillAttention {
  AttentionShape shape;
  PagedKv kv;
  const Bf16* queries = nullptr;
  const int *first_row = nullptr, *contexts = nullptr;  // on the device, [sequences + 1] and [sequences]
  Bf16* out = nullptr;
  int sequences = 0, longest_chunk = 0;  // tokens of the longest chunk
};
void prefill_attention(const PrefillAttention& work, Stream stream);

// There are two kernels: one of mma.sync for every GPU, and one of wgmma for compute capability 9.0. The latter is
// taken where it exists and agrees with the former, which is tried once in the process, at the first call: not while a
// graph is being captured.
enum class PrefillKernel { kEverywhere, kHopper };
PrefillKernel prefill_kernel();
void prefill_attention_with(PrefillKernel kernel, const PrefillAttention& work, Stream stream);

}  // namespace llmscape::hardware::harness::cuda
