// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace llmscape::cli {

// What a result was made by, when and where: the one file of a folder that differs between two runs of the same input.
class Manifest {
 public:
  Manifest();  // starts its clocks
  // Writes manifest.json.
  void write(const std::filesystem::path& folder, const std::vector<std::string>& arguments) const;

 private:
  std::time_t started_;
  double wall_, cpu_;
};

}  // namespace llmscape::cli
