// SPDX-License-Identifier: Apache-2.0
#include "sim/live/weights.hpp"

#include <cmath>
#include <string>

#include "base/hash.hpp"

namespace llmscape::live {
namespace {

struct Extent {
  std::int64_t outputs, inputs;
};

Extent extent_of(const LlamaShape& s, Tensor tensor) {
  switch (tensor) {
    case Tensor::qkv: return {s.qkv_width(), s.hidden};
    case Tensor::attention_output: return {s.hidden, s.query_width()};
    case Tensor::gate_up: return {2 * s.width, s.hidden};
    case Tensor::down: return {s.hidden, s.width};
    case Tensor::embedding:
    case Tensor::head: return {s.vocabulary, s.hidden};
    default: return {1, s.hidden};
  }
}

bool is_norm(Tensor tensor) {
  return tensor == Tensor::attention_norm || tensor == Tensor::feed_norm || tensor == Tensor::final_norm;
}

}  // namespace

RandomTensor random_tensor(const LlamaShape& shape, Tensor tensor, std::int64_t layer) {
  if (tensor == Tensor::head && shape.tied) tensor = Tensor::embedding;
  const Extent extent = extent_of(shape, tensor);
  RandomTensor out;
  out.key = hash64("weights " + std::to_string(static_cast<int>(tensor)) + ' ' + std::to_string(layer));
  out.elements = extent.outputs * extent.inputs;
  out.centre = is_norm(tensor) ? 1 : 0;
  out.spread = is_norm(tensor) ? 0.1F : std::sqrt(3 / static_cast<float>(extent.inputs));
  return out;
}

std::vector<float> values_of(const RandomTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements));
  for (std::int64_t i = 0; i < tensor.elements; ++i) values[static_cast<std::size_t>(i)] = tensor[i];
  return values;
}

}  // namespace llmscape::live
