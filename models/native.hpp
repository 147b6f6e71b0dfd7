// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "models/model.hpp"

namespace llmscape::models {

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
  std::vector<LayerGroup> groups;
};

const Fields<NativeModel>& native_model_fields();

// All mistakes are reported, and then nothing is returned.
std::optional<ModelSpec> read_native_model(const YamlNode& root, std::string name, Diagnostics& diagnostics);

}  // namespace llmscape::models
