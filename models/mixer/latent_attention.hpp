// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/linear.hpp"
#include "models/mixer/layer_share.hpp"
#include "models/mixer/sequence_state.hpp"
#include "models/mixer/sparse_index.hpp"

namespace llmscape::models {

// Multi-head latent attention of one layer (DeepSeek): one latent of kv_rank and a rotated key of rope_dim are cached
// for each token. It runs in one of two forms (cost-model 2.4). Expanded: the latents of all n + c keys are expanded to
// the keys and values of every head. Absorbed: the expansion is moved to the n queries and outputs, and all heads
// attend to the latents themselves, at more FLOPs per pair. Widths are of the whole model.
struct LatentAttention {
  int heads = 0;
  int q_rank = 0;    // 0: queries are projected directly
  int kv_rank = 0;   // width of the latent that is cached
  int rope_dim = 0;  // width of the rotated part of keys and queries
  int nope_dim = 0;  // of the other part, per head
  int v_dim = 0;     // of the values, per head
  bool qkv_bias = false, output_bias = false;
  bool output_gate = false;  // a projection gives a gate for each value (Kimi-K3)
  // Sparse: always absorbed, since each token attends to entries of its own.
  std::optional<SparseIndex> index{};
  bool operator==(const LatentAttention&) const = default;

  // kv_b: expands one latent to the keys and values of the rank's heads, or, absorbed, carries one token's queries into
  // the latent space and its outputs back. Both cost the same. It depends on the phase, so that it is no projection.
  [[nodiscard]] Linear expansion(int tensor) const;
  // Whether the absorbed form needs fewer FLOPs for a chunk: for DeepSeek-V3 iff A(n, c) < 170.67 c. Never for a fresh
  // prompt.
  [[nodiscard]] bool absorbed_is_cheaper(std::int64_t tokens, std::int64_t cached) const;
  // FLOPs per query-key pair, all heads.
  [[nodiscard]] double expanded_pair_flops() const { return 2.0 * heads * (nope_dim + rope_dim + v_dim); }
  [[nodiscard]] double absorbed_pair_flops() const { return 2.0 * heads * (2 * kv_rank + rope_dim); }

  // As models/mixer/mixer.hpp has them.
  static constexpr bool kDependsOnPhase = true;
  [[nodiscard]] std::vector<HeadCount> head_counts() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::vector<Linear> projections(std::int64_t hidden, int tensor) const;
  [[nodiscard]] std::int64_t inner_parameters(int tensor) const;
  [[nodiscard]] SequenceState state(const Precision& precision, int tensor) const;
  void add_token_work(OperatorList& list, const LayerShare& share) const;
  void add_attention(OperatorList& list, const LayerShare& share, const Batch& batch, const Attended& decodes) const;

 private:
  void add_prompts(OperatorList& list, const LayerShare& share, const Batch& batch) const;
  // The batch's chunks, all absorbed.
  [[nodiscard]] PrefillAttention absorbed_prompts(const LayerShare& share, const Batch& batch) const;
};

}  // namespace llmscape::models
