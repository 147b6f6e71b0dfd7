// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/operator.hpp"

namespace llmscape::hardware {

// What scoring the context for the tokens of a step comes to, in one layer, whatever device it runs on.
struct IndexLoad {
  double pairs = 0;    // of tokens and entries
  double keys = 0;     // read, of all sequences
  double tokens = 0;   // that score
  double choices = 0;  // of them, those whose context is longer than what they attend to
  double longest = 0;  // context
  [[nodiscard]] double flops(const models::IndexScores& of) const { return 2.0 * of.heads * of.head_dim * pairs; }
  // Keys are read once; the scores, in fp32, are written and read again to choose.
  [[nodiscard]] double bytes(const models::IndexScores& of) const { return keys * of.key_bytes + 8 * pairs; }
};
IndexLoad load_of(const models::IndexScores&);

}  // namespace llmscape::hardware
