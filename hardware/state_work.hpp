// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/operator.hpp"

namespace llmscape::hardware {

// What updating recurrent states computes and moves, on any device.
struct StateLoad {
  double flops = 0;
  // Of memory: a prompt's states are read and written once, those of a decode read once and written after each token
  // of the pass (which may be taken back), with the input that its convolution then keeps; inputs and outputs once for
  // each token.
  double bytes = 0;
};
// Prompts are scanned in chunks of kScanChunk tokens: within one by products of its queries, keys and values, between
// them by the state (Mamba 2: arXiv 2405.21060, section 6; delta rules: arXiv 2406.06484, section 3). Decodes touch
// every element of the state for each token: decay, correction of a delta rule, rank-1 update, output.
StateLoad load_of(const models::StateUpdate&);
inline constexpr double kScanChunk = 64;  // tokens, of flash-linear-attention's kernels

}  // namespace llmscape::hardware
