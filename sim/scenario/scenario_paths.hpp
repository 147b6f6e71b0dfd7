// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// Calls `visit` with each value of a scenario that names a file or a folder, and the folder that it starts from while
// it is relative: `folder` (the scenario's), or that of the description of the user's own in which it stands. These are
// the models' hf_config, the trace of a replay and the tables of devices. A description that is still named
// (`preset: mine.yaml`, of a device or of prices) counts too.
void visit_paths(YamlNode& scenario, const std::filesystem::path& folder,
                 const std::function<void(YamlNode& path, const std::filesystem::path& from)>& visit);

// While it lives, tables that the scenario itself names are spelled so that a device finds them from the scenario's
// folder, whatever spelled them: a device knows the file that it stands in, but not that of a saved plan or an option.
class AnchoredTables {
 public:
  AnchoredTables(YamlNode& scenario, const std::filesystem::path& folder);
  ~AnchoredTables();
  AnchoredTables(const AnchoredTables&) = delete;
  AnchoredTables& operator=(const AnchoredTables&) = delete;

 private:
  YamlNode& scenario_;
  std::vector<std::pair<std::size_t, std::string>> written_;  // of devices, by their place
};

// The tree with its relative paths started from `to` instead.
YamlNode moved_paths(YamlNode scenario, const std::filesystem::path& folder, const std::filesystem::path& to);

}  // namespace llmscape::scenario
