// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/linear.hpp"
#include "models/mixer/layer_share.hpp"

namespace llmscape::models {

// What chooses the entries of the context that a token of latent attention attends to (DeepSeek sparse attention: arXiv
// 2512.02556, 2.1; `Indexer` of deepseek-ai/DeepSeek-V3.2, inference/model.py): a few narrow heads, all against one key
// of each token, score the whole context in fp8, and the `entries` best are attended to. Every rank scores for itself,
// with all heads. The keys are cached beside the latents.
struct SparseIndex {
  int heads = 0;  // 0: the layer takes what an earlier one has chosen (GLM-5.2), and has neither weights nor keys
  int head_dim = 0;
  std::int64_t entries = 0;  // that a token attends to at most
  bool operator==(const SparseIndex&) const = default;

  // Of the queries' latent to the heads' queries, and of the hidden state to the token's key and a weight for each
  // head. That stays in 16 bits in checkpoints, and is so narrow that it is taken in the format of the others.
  [[nodiscard]] std::vector<Linear> projections(std::int64_t hidden, int q_rank) const;
  [[nodiscard]] std::int64_t inner_parameters() const;  // the norm of the key, with its bias
  // Cached of a token: its key in fp8 and one scale of four bytes (DeepGEMM's layout in vLLM and SGLang).
  [[nodiscard]] double key_bytes() const { return heads > 0 ? head_dim + 4.0 : 0; }
  // FLOPs to score one entry for one query.
  [[nodiscard]] double pair_flops() const { return 2.0 * heads * head_dim; }

  // All of a token but the projections.
  void add_token_kernels(OperatorList& list, const LayerShare& share, int rope_dim) const;
  void add_scores(OperatorList& list, const LayerShare& share, const Batch& batch) const;
};

}  // namespace llmscape::models
