// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// A catalogue is a folder with one file per model: NAME.json is a config.json of Hugging Face, with `_source` and
// `_parameters` (where the figures come from, and the published count) before its own keys; NAME.yaml is native
// (`schema: model/1`).

// Names in the folder, sorted.
std::vector<std::string> model_names(const std::filesystem::path& folder);

// The model of that name, or nothing after reporting; `where` is the place that names it.
std::optional<ModelSpec> load_model(const std::filesystem::path& folder, std::string_view name,
                                    const SourceRange& where, Diagnostics& diagnostics);

// A model file of the user's own, of either kind.
std::optional<ModelSpec> load_model_file(const std::filesystem::path& path, Diagnostics& diagnostics);

}  // namespace llmscape::models
