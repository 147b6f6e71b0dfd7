// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"
#include "hardware/harness/cuda/runtime.hpp"

namespace llmscape::hardware::harness::cuda {

// Kernels over rows of logits; `width`, the vocabulary, is a multiple of 8.

void softmax(const float* logits, float* out, int rows, int width, Stream stream);

// The index of the largest logit of each row; of equals the first.
void argmax(const Bf16* logits, int* tokens, int rows, int width, Stream stream);

// Draws a token of each row from the softmax of its top_k largest logits (those equal to the last of them included):
// the one whose logit / temperature + noise is largest, where the noise of element i of row r is Gumbel's,
// -log(-log(uniform(seed, r * width + i))).
void sample(const float* logits, int* tokens, int rows, int width, int top_k, float temperature, std::uint64_t seed,
            Stream stream);

// The experts of the top_k largest logits of each row in falling order, and their softmax among themselves. At most 256
// experts, top_k at most 16.
void route(const Bf16* logits, int* experts, float* weights, int rows, int width, int top_k, Stream stream);

}  // namespace llmscape::hardware::harness::cuda
