// SPDX-License-Identifier: Apache-2.0
#include "models/catalog.hpp"

#include "base/opened_files.hpp"
#include "base/quantity.hpp"
#include "base/yaml_reader.hpp"
#include "models/hf_config.hpp"
#include "models/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace llmscape::models {
namespace {

bool is_model_file(const std::filesystem::path& path) {
  return path.extension() == ".json" || path.extension() == ".yaml";
}

// Reads the catalogue's own keys of a config.json.
void read_provenance(const YamlNode& root, ModelSpec& model, Diagnostics& diagnostics) {
  if (const YamlNode* source = root.find("_source")) model.source = source->text;
  const YamlNode* parameters = root.find("_parameters");
  if (!parameters) return;
  const auto count = parse_quantity(parameters->text, Dimension::number);
  if (const double* number = std::get_if<double>(&count)) {
    model.published_parameters = *number;
  } else {
    diagnostics.error(parameters->where, "'_parameters' must be a number");
  }
}

// Where Model Optimizer's checkpoints say their formats: hf_quant_config.json beside config.json, or
// NAME_hf_quant_config beside NAME_config.json; else empty.
std::filesystem::path quantization_beside(const std::filesystem::path& config) {
  constexpr std::string_view kEnd = "config.json";
  std::string name = config.filename().string();
  if (!name.ends_with(kEnd)) return {};
  name.insert(name.size() - kEnd.size(), "hf_quant_");
  const std::filesystem::path path = config.parent_path() / name;
  return stands_there(path) ? path : std::filesystem::path();
}

}  // namespace

std::vector<std::string> model_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;  // a folder that cannot be read has no models
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (is_model_file(entry.path())) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<ModelSpec> load_model(const std::filesystem::path& folder, std::string_view name,
                                    const SourceRange& where, Diagnostics& diagnostics) {
  const std::vector<std::string> names = model_names(folder);
  // Looked up in the list, so that a name never reaches out of the folder.
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string meant = did_you_mean(name, names);
    diagnostics.error(
        where, fmt::format("unknown model '{}'", name),
        fmt::format("{}{}'llmscape list models' shows all {}", meant, meant.empty() ? "" : " ", names.size()));
    return std::nullopt;
  }
  std::filesystem::path path = folder / fmt::format("{}.json", name);
  if (!std::filesystem::exists(path)) path = folder / fmt::format("{}.yaml", name);
  return load_model_file(path, diagnostics);
}

std::optional<ModelSpec> load_model_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  const YamlNode root = read_yaml_file(path, diagnostics);
  if (diagnostics.errors() != before) return std::nullopt;
  const std::string name = path.stem().string();
  if (root.find("schema")) return read_native_model(root, name, diagnostics);
  const std::filesystem::path beside = quantization_beside(path);
  const YamlNode file = beside.empty() ? YamlNode() : read_yaml_file(beside, diagnostics);
  if (diagnostics.errors() != before) return std::nullopt;
  auto model = read_hf_config(root, name, diagnostics, file.find("quantization"));
  if (model) read_provenance(root, *model, diagnostics);
  return model;
}

}  // namespace llmscape::models
