// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"

#include <compare>
#include <cstdint>
#include <string>

namespace llmscape::traces {

// Operators of one layer on one GPU, as a kernel table times them. Formats are named as in model descriptions (bf16,
// fp8); those that have no such name keep the table's own.

// A dense product of m tokens with weights of n outputs and k inputs; both operands in `format`.
struct GemmCase {
  std::int64_t m = 0, n = 0, k = 0;
  std::string format;
  auto operator<=>(const GemmCase&) const = default;
};

// Decode attention: `sequences` that each compute one token over `context` tokens, itself included.
struct DecodeAttentionCase {
  std::int64_t sequences = 0, context = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::string format, kv_format;
  auto operator<=>(const DecodeAttentionCase&) const = default;
};

// Prefill attention: `sequences` that each compute `tokens` behind `cached` ones.
struct PrefillAttentionCase {
  std::int64_t sequences = 0, tokens = 0, cached = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::string format, kv_format;
  auto operator<=>(const PrefillAttentionCase&) const = default;
};

template <class Case>
struct Timed : Case {
  Seconds time;  // of one launch, above 0
};
using TimedGemm = Timed<GemmCase>;
using TimedDecodeAttention = Timed<DecodeAttentionCase>;
using TimedPrefillAttention = Timed<PrefillAttentionCase>;

}  // namespace llmscape::traces
