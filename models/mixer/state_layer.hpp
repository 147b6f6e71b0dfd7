// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/linear.hpp"
#include "models/mixer/layer_share.hpp"
#include "models/mixer/sequence_state.hpp"
#include "models/state_form.hpp"

namespace llmscape::models {

// A layer that keeps a state of one size instead of entries for each token: a matrix of key_dim x value_dim for each
// head, and the last inputs of a short causal convolution. Widths are of the whole model.
struct StateLayer {
  StateForm form = StateForm::mamba2;
  int heads = 0;           // with a state each: Mamba 2's heads, value heads of the others
  int key_heads = 0;       // of queries and keys, shared by neighbouring heads: Mamba 2's groups
  int key_dim = 0;         // of queries and keys: Mamba 2's state size
  int value_dim = 0;       // of values
  int convolution = 4;     // tokens that it reads, the token itself included
  bool full_gate = false;  // Kimi's output gate is one whole matrix (Kimi-K3), not two narrow ones
  double state_bytes = 4;  // per element of the matrix; the convolution's inputs are hidden states
  bool operator==(const StateLayer&) const = default;

  // Channels of the convolution: queries, keys and values.
  [[nodiscard]] std::int64_t channels(int tensor) const;

  // As models/mixer/mixer.hpp has them.
  [[nodiscard]] std::vector<HeadCount> head_counts() const;
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::vector<Linear> projections(std::int64_t hidden, int tensor) const;
  [[nodiscard]] std::int64_t inner_parameters(int tensor) const;
  [[nodiscard]] SequenceState state(const Precision& precision, int tensor) const;
  void add_token_work(OperatorList& list, const LayerShare& share) const;
  // The state's work: of `chunks` chunks with `chunk_tokens` tokens in all, and of `decodes` sequences with
  // `decode_tokens`.
  void add_state_work(OperatorList& list, const LayerShare& share, std::int64_t chunks, std::int64_t decodes) const;
};

}  // namespace llmscape::models
