// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/cli/own_files.hpp"

namespace llmscape::cli {

// What a result was made by, when and where: the one file of a folder that differs between two runs of the same input.
class Manifest {
 public:
  static constexpr OwnFile kFile{"manifest.json", R"("schema": "manifest/1")"};

  Manifest();  // starts its clocks
  // Writes manifest.json.
  void write(const std::filesystem::path& folder, const std::vector<std::string>& arguments) const;

 private:
  std::time_t started_;
  double wall_, cpu_;
};

}  // namespace llmscape::cli
