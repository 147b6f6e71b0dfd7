// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.hpp"

namespace llmscape::models {

// The number format of that name, or nothing: fp32, bf16, fp16, fp8, int8, int4, nvfp4, mxfp4, ...
std::optional<Format> format_named(std::string_view name);
// All names, for messages and schemas.
std::vector<std::string> format_names();

// Stores every weight in `format`: those of attention, experts, embedding and head too, whatever the checkpoint does.
void set_weights(ModelSpec& model, const Format& format);
// The inputs of all GEMMs; embedding and head.
void set_activations(ModelSpec& model, const Format& format);
void set_embeddings(ModelSpec& model, const Format& format);

}  // namespace llmscape::models
