// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "models/linear.hpp"
#include "models/mixer/token_change.hpp"
#include "models/operator.hpp"

namespace llmscape::models {

class OperatorList;

// Heads that tensor parallelism divides over its ranks; where there are more ranks than heads, some may be replicated.
struct HeadCount {
  int count = 0;
  std::string_view name;
  bool replicates = false;
};

// Like layers on one rank, and the tokens that pass them: what a mixer writes its work from.
struct LayerShare {
  std::int64_t hidden = 0;
  const Precision& precision;
  const Format& weights;         // of the mixer's projections
  const Format& output_weights;  // of the last of them
  const TokenChange& change;
  int tensor = 1;
  int layers = 0;      // of this rank's stage
  bool rotary = true;  // positions are rotated into queries and keys
  std::int64_t chunk_tokens = 0, decode_tokens = 0;
  [[nodiscard]] std::int64_t tokens() const { return chunk_tokens + decode_tokens; }

  // Attention of the batch's chunks, or of its decodes, which attend to `attended`: all but heads and widths.
  // `window`: the mixer's own; 0: full.
  [[nodiscard]] PrefillAttention prefill(const Batch& batch, std::int64_t window) const;
  [[nodiscard]] DecodeAttention decode(const Batch& batch, const Attended& attended, std::int64_t window) const;
  // A GEMM of `rows` tokens with weights of the attention in each layer.
  void add_linear(OperatorList& list, const Linear& shape, std::int64_t rows) const;
  // The mixer's projections of all tokens; `input` has written the input of the first. The last is the output's.
  void add_projections(OperatorList& list, std::span<const Linear> shapes,
                       Elementwise::Input input = Elementwise::Input::elsewhere) const;
  // An element-wise kernel of all tokens, `accesses` times the hidden format's bytes for each of `per_token` elements.
  void add_elementwise(OperatorList& list, Elementwise::Kind kind, double accesses, std::int64_t per_token) const;

 private:
  void add_product(OperatorList& list, const Linear& shape, std::int64_t rows, const Format& format,
                   Elementwise::Input input) const;
};

}  // namespace llmscape::models
