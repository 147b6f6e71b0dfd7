// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/harness/cuda/numbers.hpp"
#include "sim/live/llama.hpp"

namespace llmscape::live {

enum class Tensor : std::uint8_t {
  embedding,         // vocabulary x hidden; the head of a tied model too
  attention_norm,    // hidden
  qkv,               // (query, key, value) x hidden
  attention_output,  // hidden x query
  feed_norm,         // hidden
  gate_up,           // 2 width x hidden
  down,              // hidden x width
  final_norm,        // hidden
  head,              // vocabulary x hidden
};

// One tensor's random values, the same on every machine: uniform, of mean 0 and variance 1 / inputs for matrices, so
// that activations neither grow nor fade; within a tenth of 1 for norms.
struct RandomTensor {
  std::uint64_t key = 0;
  float centre = 0, spread = 0;  // values lie in centre +- spread
  std::int64_t elements = 0;

  [[nodiscard]] float operator[](std::int64_t index) const {
    return centre + spread * (2 * hardware::harness::cuda::uniform(key, static_cast<std::uint64_t>(index)) - 1);
  }
};

// `layer` tells the layers' tensors apart; 0 for the others.
RandomTensor random_tensor(const LlamaShape& shape, Tensor tensor, std::int64_t layer = 0);
std::vector<float> values_of(const RandomTensor& tensor);

}  // namespace llmscape::live
