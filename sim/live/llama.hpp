// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"

namespace llmscape::live {

// The one shape of model that the mini engine computes: equal layers of RMS norms, rotary grouped-query attention over
// all tokens and a gated feed-forward, without biases.
struct LlamaShape {
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t width = 0;  // of the feed-forward
  std::int64_t vocabulary = 0, max_position = 0;
  bool tied = false;  // the head uses the embedding's table

  [[nodiscard]] std::int64_t query_width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return kv_heads * head_dim; }
  [[nodiscard]] std::int64_t qkv_width() const { return query_width() + 2 * kv_width(); }
};

// Nothing, with the reason, where the model has anything else.
std::optional<LlamaShape> llama_shape(const models::ModelSpec& model, std::string& reason);

// The shape as a model/1 description, all numbers stored in `format`.
std::string model_yaml(const LlamaShape& shape, std::string_view format);

// Shapes of no published model, for runs of seconds to a minute on one processor core.
struct Size {
  std::string_view name, text;
  LlamaShape shape;
};
const std::vector<Size>& sizes();

}  // namespace llmscape::live
