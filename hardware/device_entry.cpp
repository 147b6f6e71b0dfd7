// SPDX-License-Identifier: Apache-2.0
#include "hardware/device_entry.hpp"

#include "base/catalog.hpp"
#include "base/schema.hpp"
#include "hardware/device.hpp"

namespace llmscape::hardware {

std::optional<YamlNode> device_entry(const std::filesystem::path& folder, std::string_view name,
                                     const SourceRange& where, Diagnostics& diagnostics) {
  auto tree = catalog_entry(folder, "device", name, where, diagnostics);
  if (!tree) return std::nullopt;
  const YamlNode* kind = tree->find("kind");
  const auto load_part = [&folder](std::string_view parts, std::string_view part, const SourceRange& asked,
                                   Diagnostics& mistakes) {
    return catalog_entry(folder / parts, parts, part, asked, mistakes);
  };
  for (const auto& member : devices().members())
    if (kind && kind->text == member.name) expand_presets(*tree, *member.info, load_part, diagnostics);
  return tree;
}

}  // namespace llmscape::hardware
