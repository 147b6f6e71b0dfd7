// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// The attention of a layer as it is written: the widths of both kinds side by side.
struct NativeAttention {
  enum class Kind { gqa, latent };  // gqa covers multi-head and multi-query
  Kind kind = Kind::gqa;
  int heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
  std::int64_t window = 0;
  bool qkv_bias = false, output_bias = false, qk_norm = false, qk_norm_full = false, sinks = false, output_gate = false,
       head_gate = false, keys_as_values = false;
  int q_rank = 0, kv_rank = 0, rope_dim = 0, nope_dim = 0, v_dim = 0;
  int index_heads = 0, index_dim = 0;
  std::int64_t index_entries = 0;
  [[nodiscard]] Mixer mixer() const;
};

// Layers that are alike, as they are written.
struct NativeGroup {
  int count = 0;
  std::optional<NativeAttention> attention;
  std::optional<StateLayer> state;
  std::optional<FeedForward> feed_forward;
  int norms = 2;
  bool norm_bias = false;
};

// A model in our own words (`schema: model/1`), for shapes that no config.json describes. Formats are written by name.
struct NativeModel {
  std::string schema;
  std::string source;
  std::optional<double> parameters;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_position = 0;
  bool tied_embeddings = false;
  std::int64_t position_table = 0;
  std::int64_t embedding_width = 0;
  bool final_norm = true;
  std::string weights = "bf16";
  std::string activations = "bf16";
  std::string kv = "bf16";
  std::vector<NativeGroup> groups;
};

const Fields<NativeModel>& native_model_fields();

// All mistakes are reported, and then nothing is returned.
std::optional<ModelSpec> read_native_model(const YamlNode& root, std::string name, Diagnostics& diagnostics);

}  // namespace llmscape::models
