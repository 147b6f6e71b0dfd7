// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/batch.hpp"
#include "models/expert_coverage.hpp"
#include "models/precision.hpp"
#include "models/state_form.hpp"

namespace llmscape::models {

// What one rank computes in a step. `count` repeats of the same operator (one per layer, say) are one entry; of a
// pipeline it is what a stage has in the mean, which is no whole number.

// C[m, n] = A[m, k] B[k, n], B being weights.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Format weights, activations;
  bool operator==(const Gemm&) const = default;
};

// The expert GEMMs of one routed layer on one rank, the one that a step waits for: `tokens` x experts_per_token rows
// spread over the experts.
struct GroupedGemm {
  std::int64_t rows = 0;       // token-expert pairs on this rank
  double experts_touched = 0;  // distinct experts of this rank whose weights are read
  int experts_held = 0;        // experts on this rank
  std::int64_t n = 0, k = 0;   // one expert's GEMM
  Format weights, activations;
  // How the rows fall on the touched experts: evenly, as in tables of balanced rows; as a router deals them that takes
  // all experts alike; or to experts of unlike popularity.
  enum class Dealt { evenly, at_random, by_popularity };
  Dealt dealt = Dealt::evenly;
  Popularity popularity{};
  // Tokens that the rank's kernels are handed, also those that go to experts of other ranks: some kernels choose their
  // tiles by them. 0: `rows` alone.
  std::int64_t seen_tokens = 0;
  int experts_per_token = 0;
  std::int64_t width = 0;  // of an expert between its GEMMs, on this rank; 0: of no layer of experts
  // Of a rank on average, where ranks differ. Its are the work, the traffic and the joules.
  struct Average {
    double rows = 0, experts_touched = 0;
    bool operator==(const Average&) const = default;
  };
  std::optional<Average> average{};
  bool operator==(const GroupedGemm&) const = default;
};

// Kernels of one class have fits of their own.
// `indexed`: latent attention to chosen entries.
enum class AttentionKernel : std::uint8_t { softmax, latent, indexed };

// Attention of one layer group over the sequences of a step; prefill chunks and decodes are separate operators.
struct PrefillAttention {
  std::vector<PrefillChunk> chunks;
  int heads = 0, kv_heads = 0, head_dim = 0;  // of this rank; head_dim: of queries and keys
  std::int64_t window = 0;                    // most entries that a token attends to; 0: all
  KvFormat kv;
  // A kernel that skips what is not attended to, as devices name it; empty: a dense one. Before it, and in a dense one
  // at the end of a prompt, a chunk's last `estimate_queries` tokens are scored against all its keys, to find what is
  // attended to or kept.
  std::string sparse_kernel{};
  std::int64_t estimate_queries = 0;
  bool estimates_each_chunk = false;
  AttentionKernel kernel = AttentionKernel::softmax;
  int value_dim = 0;            // 0: as head_dim
  bool values_in_keys = false;  // values are the first value_dim of the keys
  // Of a KV head: of a value, and of what is stored of a token.
  [[nodiscard]] int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  [[nodiscard]] int stored_width() const { return values_in_keys ? head_dim : head_dim + value_width(); }
  [[nodiscard]] double stored_bytes() const { return kv.stored_bytes(head_dim, values_in_keys ? 0 : value_width()); }
  bool operator==(const PrefillAttention&) const = default;
};
struct DecodeAttention {
  std::int64_t sequences = 0;
  std::int64_t tokens_per_sequence = 1;
  Attended attended;          // entries under this layer's KV law
  std::int64_t contexts = 0;  // entries before the layer's own window cuts them; 0: as many as are attended to
  int heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t window = 0;
  bool masks = false;  // the layer's own window, which its kernel is told; else the cache holds no more
  KvFormat kv;
  AttentionKernel kernel = AttentionKernel::softmax;
  int value_dim = 0;  // as in PrefillAttention
  bool values_in_keys = false;
  // Entries of a sequence before a window cuts them.
  [[nodiscard]] double mean_context() const {
    return static_cast<double>(std::max(contexts, attended.sum)) / static_cast<double>(sequences);
  }
  [[nodiscard]] int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  [[nodiscard]] int stored_width() const { return values_in_keys ? head_dim : head_dim + value_width(); }
  [[nodiscard]] double stored_bytes() const { return kv.stored_bytes(head_dim, values_in_keys ? 0 : value_width()); }
  bool operator==(const DecodeAttention&) const = default;
};

// Scores of the whole context for each token, and the choice of the `entries` best: of chunks, or of decodes.
struct IndexScores {
  std::vector<PrefillChunk> chunks;
  std::int64_t sequences = 0, tokens_per_sequence = 1;  // decodes
  Attended context;                                     // of the decodes: all their entries
  int heads = 0, head_dim = 0;
  std::int64_t entries = 0;  // that a token attends to; contexts that are no longer need no choice
  double key_bytes = 0;      // stored of a token, for all heads
  KvFormat kv;               // of the entries that are chosen from
  bool operator==(const IndexScores&) const = default;
};

// The recurrent states of one layer: of chunks, whose tokens are scanned, or of decodes, whose states are read and
// written once for each sequence. The short convolution before it is part of it.
struct StateUpdate {
  StateForm form = StateForm::mamba2;
  bool scan = false;  // of chunks
  std::int64_t sequences = 0, tokens = 0;
  int heads = 0, key_heads = 0;  // of this rank
  int key_dim = 0, value_dim = 0;
  int convolution = 0;
  double state_bytes = 4;    // per element of a state
  double element_bytes = 2;  // of queries, keys, values and outputs
  bool operator==(const StateUpdate&) const = default;
};

// Reads and writes activations: bytes = what is moved, by the formulas of the kind.
struct Elementwise {
  enum class Kind { norm, activation, rope, add, embedding, router, permute, quantise, scores };
  Kind kind = Kind::norm;
  double bytes = 0;
  // Of a quantisation with one scale for a tensor or a token: which kernel wrote its input, and could have quantised
  // it.
  enum class Input { elsewhere, norm, activation };
  Input input = Input::elsewhere;
  // Bytes of a rank on average, where ranks differ and `bytes` are those of the fullest (as GroupedGemm::average).
  std::optional<double> average{};
  bool operator==(const Elementwise&) const = default;
};

struct Collective {
  enum class Kind { all_reduce, all_gather, reduce_scatter, all_to_all, send };
  Kind kind = Kind::all_reduce;
  double bytes = 0;  // of the tensor on one rank (all_gather: gathered size)
  int ranks = 1;
  int stride = 1;  // devices from one rank to the next: those of another parallel degree lie between
  // The same on average, where ranks differ and `bytes` are those of the fullest, which a step waits for. Its are the
  // traffic and the joules.
  std::optional<double> average{};
  // Of a send, which is counted once for each two neighbours among so many: the stages of a pipeline. `ranks` are two
  // of them.
  int stages = 2;
  // Of an all-to-all of tokens that go once to each rank that holds one of their experts, how these are chosen. Between
  // domains each goes once to a domain, and is forwarded there (DeepEP's kernels for prompts; DeepSeek-V3's
  // report, 3.2.2).
  std::optional<Routing> routing{};
  bool operator==(const Collective&) const = default;
};

// Copies bytes inside a device's memory (KV append of uncached layouts, cache copies).
struct Copy {
  double bytes = 0;
  bool operator==(const Copy&) const = default;
};

// Picks one token from each row of logits.
struct Sample {
  std::int64_t rows = 0;
  std::int64_t vocabulary = 0;
  double bytes() const { return 4.0 * static_cast<double>(rows) * static_cast<double>(vocabulary); }  // of logits
  bool operator==(const Sample&) const = default;
};

using AnyOperator = std::variant<Gemm, GroupedGemm, PrefillAttention, DecodeAttention, IndexScores, StateUpdate,
                                 Elementwise, Collective, Copy, Sample>;

struct Operator {
  AnyOperator what;
  double count = 1;
};

}  // namespace llmscape::models
