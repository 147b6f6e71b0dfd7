// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace llmscape::traces {

// Operators of one layer on one device, as a kernel table or the harness times them. Formats are named as in model
// descriptions (bf16, fp8); those that have no such name keep the table's own.

// A dense product of m tokens with weights of n outputs and k inputs; both operands in `format`.
struct GemmCase {
  std::int64_t m = 0, n = 0, k = 0;
  std::string format;
  auto operator<=>(const GemmCase&) const = default;
};

// The grouped product of one expert matrix: `tokens` rows, each sent to `experts_per_token` of `experts`, through
// matrices of n outputs and k inputs. Rows are dealt out evenly.
struct GroupedGemmCase {
  std::int64_t tokens = 0, experts = 0, experts_per_token = 0, n = 0, k = 0;
  std::string format;
  auto operator<=>(const GroupedGemmCase&) const = default;
};

// Rows that the kernels of an expert layer give places to: of all the rank's tokens, whosever experts they go to; on
// the way in, of experts that it holds, and of all on the way back; of those that it holds alone.
enum class PlacedRows : std::uint8_t { all, own_on_the_way_in, own };

// A whole expert layer behind its router's logits, as one rank of `tensor_parallel` x `expert_parallel` runs it:
// selection, permutation, gate and up, activation, down, and the weighted sum.
struct ExpertLayerCase {
  std::int64_t tokens = 0, hidden = 0, expert_width = 0, experts = 0, experts_per_token = 0;
  std::int64_t tensor_parallel = 1, expert_parallel = 1;
  double experts_touched = 0;  // distinct experts of the rank that have rows, where the table says; else 0
  std::string routing;         // "balanced", or the table's own name of a skew
  std::string format;
  PlacedRows placed = PlacedRows::all;
  auto operator<=>(const ExpertLayerCase&) const = default;
};

// Decode attention: `sequences` that each compute one token over `context` tokens, itself included.
struct DecodeAttentionCase {
  std::int64_t sequences = 0, context = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::string format, kv_format;
  std::int64_t window = 0;  // latest entries that a query sees; 0: all
  auto operator<=>(const DecodeAttentionCase&) const = default;
};

// Prefill attention: `sequences` that each compute `tokens` behind `cached` ones.
struct PrefillAttentionCase {
  std::int64_t sequences = 0, tokens = 0, cached = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::string format, kv_format;
  std::int64_t window = 0;  // as above
  auto operator<=>(const PrefillAttentionCase&) const = default;
};

// Attention of a step with one prompt chunk and decodes of equal context: `decodes` sequences over `context` tokens,
// themselves included.
struct MixedAttentionCase {
  std::int64_t tokens = 0, cached = 0, decodes = 0, context = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::string format, kv_format;
  auto operator<=>(const MixedAttentionCase&) const = default;
};

// A kernel that reads and writes rows: "norm", "activation", "rope", "add", "embedding", "softmax", "sampling",
// "quantise", "router". `width` elements a row: hidden width (norm, add, embedding, quantise), feed-forward width
// (activation), query and KV heads x head_dim (rope), vocabulary (softmax, sampling), experts (router).
struct ElementwiseCase {
  std::string kind;
  std::int64_t rows = 0, width = 0;
  std::string format;
  auto operator<=>(const ElementwiseCase&) const = default;
};

// Latent attention by itself, as one rank with `heads` of DeepSeek-V3's heads runs it (a latent of 512 and 64 rotary
// elements, queries of 128 and 64, values of 128): `sequences` that each compute `tokens` behind `cached` ones. Prompts
// run with keys and values expanded, decodes (one token) absorbed.
struct LatentAttentionCase {
  std::int64_t sequences = 0, tokens = 0, cached = 0, heads = 0;
  bool decode = false;
  std::string format, kv_format;
  auto operator<=>(const LatentAttentionCase&) const = default;
};

// Attention to entries that an index chooses, as one rank with `heads` of the model's runs it: `sequences` that each
// compute `tokens` behind `cached` ones. "module": all of it, projections and norms too; "scores": the index's alone;
// "choice": of the entries alone.
struct IndexedAttentionCase {
  std::string model;  // whose widths it has, as the table names it
  std::string part;
  std::int64_t sequences = 0, tokens = 0, cached = 0, heads = 0;
  bool decode = false;
  std::string projections, kv_format;
  auto operator<=>(const IndexedAttentionCase&) const = default;
};

// "all_reduce", "all_gather", "reduce_scatter", "all_to_all" or "send" of `bytes` on each rank (all_gather: gathered).
struct CollectiveCase {
  std::string kind;
  std::int64_t bytes = 0, ranks = 0;
  std::string implementation;       // "nccl", "vllm_graph", ...
  std::int64_t ranks_per_node = 0;  // below `ranks`: it crosses nodes
  auto operator<=>(const CollectiveCase&) const = default;
};

// "device" (copy inside the memory), "triad", "host_to_device", "device_to_host" (pinned), "pageable_to_device",
// "kv_gather" (scattered KV blocks of `block` bytes into one buffer).
struct CopyCase {
  std::string kind;
  std::int64_t bytes = 0, block = 0;
  auto operator<=>(const CopyCase&) const = default;
};

// "launch" (one empty kernel, launched and awaited), "graph" (a graph of `nodes` empty kernels), "sync".
struct LaunchCase {
  std::string kind;
  std::int64_t nodes = 1;
  auto operator<=>(const LaunchCase&) const = default;
};

using KernelCase = std::variant<GemmCase, GroupedGemmCase, ExpertLayerCase, DecodeAttentionCase, PrefillAttentionCase,
                                MixedAttentionCase, ElementwiseCase, CollectiveCase, CopyCase, LaunchCase>;

template <class Case>
struct Timed : Case {
  Seconds time;          // of one launch, above 0
  std::string engine{};  // the serving engine whose kernel it is, as scenarios name it (vllm, tensorrt_llm, sglang);
                         // empty: a library's, or not known
};
using TimedGemm = Timed<GemmCase>;
using TimedGroupedGemm = Timed<GroupedGemmCase>;
using TimedExpertLayer = Timed<ExpertLayerCase>;
using TimedDecodeAttention = Timed<DecodeAttentionCase>;
using TimedPrefillAttention = Timed<PrefillAttentionCase>;
using TimedMixedAttention = Timed<MixedAttentionCase>;
using TimedLatentAttention = Timed<LatentAttentionCase>;
using TimedIndexedAttention = Timed<IndexedAttentionCase>;
using TimedElementwise = Timed<ElementwiseCase>;
using TimedCollective = Timed<CollectiveCase>;
using TimedCopy = Timed<CopyCase>;
using TimedLaunch = Timed<LaunchCase>;

// The mean power of a board that repeats one kernel, with its limit.
struct PowerReading {
  KernelCase what;
  Seconds time;  // of one launch, above 0
  Watts power, limit;
  std::string engine{}, software{};  // as in Timed; with its version, as the file names it
};

// The same of a whole layer's latent attention: with its projections, whose weights have a format of their own.
struct LatentModuleReading {
  LatentAttentionCase what;
  std::string projections;  // "bf16", "fp8_block", ...
  Seconds time;             // of one pass, above 0
  Watts power, limit;
};

// All that is known of one device: what calibration reads, whatever the file's format was. Each list is sorted by its
// case and engine, and holds both once.
struct KernelTables {
  std::vector<TimedGemm> gemm;
  std::vector<TimedGroupedGemm> grouped_gemm;
  std::vector<TimedExpertLayer> expert_layer;
  std::vector<TimedDecodeAttention> decode_attention;
  std::vector<TimedPrefillAttention> prefill_attention;
  std::vector<TimedMixedAttention> mixed_attention;
  std::vector<TimedLatentAttention> latent_attention;
  std::vector<TimedIndexedAttention> indexed_attention;
  std::vector<TimedElementwise> elementwise;
  std::vector<TimedCollective> collective;
  std::vector<TimedCopy> copy;
  std::vector<TimedLaunch> launch;
  std::vector<Watts> rest;                        // of a board with a context and buffers that runs nothing
  std::vector<PowerReading> power;                // in the order of the files: one kernel may have been read twice
  std::vector<LatentModuleReading> latent_power;  // likewise
  std::string device, software;                   // as the files name them
  std::string backend, threads;                   // of the harness that wrote them: "cpu" or "cuda"; how many it ran on
  // What the times span, where the files say: "KERNEL_ONLY", or "CUDA_EVENT" (gaps between launches included).
  std::string clock;
  // The keys and values of attention kernels were still in L2 from the launch before.
  // Hidden size, width, experts and experts of a token of models whose experts some row says to have two matrices.
  std::set<std::array<std::int64_t, 4>> two_matrices;
  bool warm_attention = false;
};

}  // namespace llmscape::traces
