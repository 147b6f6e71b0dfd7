// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/quantity.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// Bytes that the fullest rank of a replica holds.
struct MemoryNeed {
  Bytes weights;             // with quantisation scales; the embedding and head shards included
  Bytes activations;         // peak of a step: hidden states, the widest part of a layer, logits of max_sequences rows
  Bytes kv_per_token;        // all layers of the stage, windows ignored
  Bytes state_per_sequence;  // recurrent states of all layers of the stage
};
MemoryNeed memory_need(const ModelSpec&, const ParallelPlan&, std::int64_t max_batched_tokens,
                       std::int64_t max_sequences);

// Of one token on one rank: its hidden state, and what its widest mixer (q, k, v and the output of attention) and its
// widest feed-forward (what is between up and down) keep beside it and its residual.
struct TokenActivations {
  Bytes hidden, mixer, feed_forward;
};
TokenActivations token_activations(const ModelSpec&, const ParallelPlan&);

// Weight bytes that a decode step reads when every weight is touched: without an untied input embedding. Whole model.
Bytes streamed_weights(const ModelSpec&);

}  // namespace llmscape::models
