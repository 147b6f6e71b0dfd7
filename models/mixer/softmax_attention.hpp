// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/linear.hpp"
#include "models/mixer/layer_share.hpp"
#include "models/mixer/sequence_state.hpp"

namespace llmscape::models {

// Softmax attention of one layer over keys and values: grouped-query, multi-query and multi-head. All widths are of the
// whole model, before tensor parallelism.
struct SoftmaxAttention {
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;         // of queries and keys
  int value_dim = 0;        // of values; 0: as head_dim
  std::int64_t window = 0;  // sliding window in tokens, the token itself included; 0: full
  bool qkv_bias = false, output_bias = false;
  bool qk_norm = false;         // a norm of head_dim weights each for queries and keys
  bool qk_norm_full = false;    // qk_norm over all heads at once (OLMo style)
  bool sinks = false;           // one learned sink per head (GPT-OSS)
  bool output_gate = false;     // the projection gives a gate beside each query, which scales the output (Qwen3.5)
  bool head_gate = false;       // one gate for each head scales its output (Step-3.7)
  bool keys_as_values = false;  // values are the projected keys before norm and rotation; both are cached (Gemma-4)
  [[nodiscard]] int value_width() const { return value_dim > 0 ? value_dim : head_dim; }
  // Columns of the projections to keys and values on one tensor rank.
  [[nodiscard]] std::int64_t key_value_columns(int tensor) const {
    return std::int64_t{kv_heads_of_rank(tensor)} * (head_dim + (keys_as_values ? 0 : value_width()));
  }
  // KV heads that one tensor rank holds: where there are more ranks than heads, heads are replicated.
  [[nodiscard]] int kv_heads_of_rank(int tensor) const { return kv_heads / tensor > 1 ? kv_heads / tensor : 1; }
  bool operator==(const SoftmaxAttention&) const = default;

  // As models/mixer/mixer.hpp has them.
  [[nodiscard]] std::vector<HeadCount> head_counts() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::vector<Linear> projections(std::int64_t hidden, int tensor) const;
  [[nodiscard]] std::int64_t inner_parameters(int tensor) const;
  [[nodiscard]] SequenceState state(const Precision& precision, int tensor) const;
  void add_token_work(OperatorList& list, const LayerShare& share) const;
  void add_attention(OperatorList& list, const LayerShare& share, const Batch& batch, const Attended& decodes) const;
};

}  // namespace llmscape::models
