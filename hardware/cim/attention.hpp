// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cim/step.hpp"

namespace llmscape::hardware {

// What the attention of a group of layers asks of a chip that computes in memory.

// The softmax, five operations on each pair of a query and a key (cost-model 5), and the KV cache's traffic with
// memory.
CimLoad softmax(const LayerShape&, const AttentionLoad&);

// All of it on the vector unit: 4 n_q d A for scores and values, and the softmax (cost-model 5).
CimLoad vector_attention(const LayerShape&, const AttentionLoad&);

// Sequences alike that attend in the same step.
struct AttendingSequences {
  double count = 0;
  double keys = 0;  // of all of them together
  double tokens_per_sequence = 0;
  double window = 0;  // keys that each token attends to at most; 0: all
};
// Scores and values in macros: of each KV head the keys are written as a matrix d x s and the values as one s x d, and
// the queries of its group pass through both. A sequence fills its last tile by half on average; masked products are
// computed too, but no query passes a tile that lies outside of its window; the tiles of all heads and layers share
// rounds.
CimLoad macro_attention(const Macro&, std::int64_t macros, const LayerShape&, const models::KvFormat& kv,
                        const AttendingSequences&);

}  // namespace llmscape::hardware
