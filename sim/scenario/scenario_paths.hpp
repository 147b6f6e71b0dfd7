// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// Calls `visit` with each value of a scenario that names a file or a folder, and the folder that it starts from while
// it is relative: `folder` (the scenario's), or that of the description of the user's own in which it stands. These are
// the models' hf_config, the trace of a replay, the platform of a topology and the tables of devices. A description
// that is still named (`preset: mine.yaml`, of a device or of prices) counts too.
void visit_paths(YamlNode& scenario, const std::filesystem::path& folder,
                 const std::function<void(YamlNode& path, const std::filesystem::path& from)>& visit);

// While it lives, tables of devices and the platform that the scenario itself names are spelled so that they are found
// from the scenario's folder, whatever spelled them: who reads them knows the file that they are named in, but not that
// of a saved plan or an option.
class AnchoredPaths {
 public:
  AnchoredPaths(YamlNode& scenario, const std::filesystem::path& folder);
  ~AnchoredPaths();
  AnchoredPaths(const AnchoredPaths&) = delete;
  AnchoredPaths& operator=(const AnchoredPaths&) = delete;

 private:
  using Place = std::optional<std::size_t>;  // the device whose tables they are; none: the platform of the topology
  [[nodiscard]] YamlNode* path_at(Place device) const;

  YamlNode& scenario_;
  std::vector<std::pair<Place, std::string>> written_;
};

// The tree with its relative paths started from `to` instead.
YamlNode moved_paths(YamlNode scenario, const std::filesystem::path& folder, const std::filesystem::path& to);

}  // namespace llmscape::scenario
