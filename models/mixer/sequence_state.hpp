// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace llmscape::models {

// What one layer keeps of a sequence on one tensor-parallel rank: what pools, caches, tiers, KV transfers and memory
// checks read. They know no kind of mixer.
struct SequenceState {
  double bytes_per_token = 0;     // keys and values, or a latent; 0: nothing grows with the context
  double bytes_per_sequence = 0;  // a recurrent state: the same at any length
  std::int64_t cap = 0;           // entries of a prompt that stay once it is computed (SnapKV); 0: all
  std::int64_t reach = 0;         // most entries that a token attends to, itself included; 0: all
};

}  // namespace llmscape::models
