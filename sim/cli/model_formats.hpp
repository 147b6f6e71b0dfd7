// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "models/model.hpp"

namespace llmscape::cli {

// An entry of the catalogue, or a model's file.
std::optional<models::ModelSpec> model_of(const std::string& name, Diagnostics& diagnostics);

// Hidden states of 32 bits (--dtype float32) make weights and KV entries so too, unless `formats`, which are those of
// the scenario's model, or the checkpoint quantise them.
void widen_to_hidden_states(YamlNode& formats, const std::string& model, Diagnostics& diagnostics);

}  // namespace llmscape::cli
