// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace llmscape::models {

// Query-key pairs of softmax attention (cost-model 2.2), as exact integers in a double. `tokens` are computed now,
// `cached` keys stand in the KV cache before them.

// Causal attention: n c + n (n + 1) / 2. Chunks of one prompt conserve it: A(n, c) + A(m, c + n) = A(n + m, c).
double causal_pairs(std::int64_t tokens, std::int64_t cached);
// Causal attention to the last `window` tokens, each token itself included; window 0: full.
double windowed_pairs(std::int64_t tokens, std::int64_t cached, std::int64_t window);
// A decode of `tokens` new tokens (1, or 1 + k with speculation) in a context of `context` that includes them.
double decode_pairs(std::int64_t tokens, std::int64_t context);
// Keys that such a chunk reads: all of n + c, or the n + w - 1 that some window reaches; window 0: full.
std::int64_t keys_read(std::int64_t tokens, std::int64_t cached, std::int64_t window);
// Pairs that are only scored, to find what a sparse kernel attends to or what stays in the cache: the chunk's last
// `queries` tokens against all n + c keys.
double estimated_pairs(std::int64_t tokens, std::int64_t cached, std::int64_t queries);

}  // namespace llmscape::models
