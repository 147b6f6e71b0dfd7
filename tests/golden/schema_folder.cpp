// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/schema_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace llmscape::test {
namespace {

using Json = nlohmann::json;

// Calls `visit` for each `$ref` of the tree.
template <class Tree, class Visit>
void each_reference(Tree& tree, const Visit& visit) {
  if (!tree.is_structured()) return;
  for (auto& [key, value] : tree.items()) {
    if (key == "$ref" && value.is_string()) visit(value);
    else each_reference(value, visit);
  }
}

}  // namespace

void SchemaFolder::add(const std::string& file, std::string_view text) {
  Json& root = roots_[file] = Json::parse(text);
  each_reference(root, [&file](Json& reference) {
    const std::string place = reference;
    if (place.starts_with('#')) reference = file + place;
  });
}

SchemaFolder SchemaFolder::of_repository() {
  SchemaFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator("schemas")) {
    std::ifstream in(entry.path());
    folder.add(entry.path().filename(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return folder;
}

const Json& SchemaFolder::definitions(const std::string& file) const {
  static const Json none = Json::object();
  const auto found = root(file).find("definitions");
  return found == root(file).end() ? none : *found;
}

const Json* SchemaFolder::find(const std::string& reference) const {
  const std::size_t hash = reference.find('#');
  const auto file = roots_.find(reference.substr(0, hash));
  if (file == roots_.end() || hash == std::string::npos) return nullptr;
  const Json::json_pointer place(reference.substr(hash + 1));
  return file->second.contains(place) ? &file->second.at(place) : nullptr;
}

std::vector<std::string> SchemaFolder::references(const std::string& file) const {
  std::vector<std::string> all;
  each_reference(root(file), [&all](const Json& reference) { all.push_back(reference); });
  return all;
}

}  // namespace llmscape::test
