// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::report {

// Texts that share most of their lines: each line stands once, and a text is runs of them: first, count, first, ...
class SharedLines {
 public:
  std::vector<std::size_t> add(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

// What is known of one run beside its row.
struct PointFile {
  std::string scenario;           // YAML
  nlohmann::ordered_json levels;  // of the curves; null where the run has none
  nlohmann::ordered_json detail;  // {"result": ..., "curves": ..., "series": ...}: what the page draws, rounded
};

// From points/<id>.json of a sweep, or from run.json and scenario.resolved.yaml of one run. What cannot be read is a
// warning.
std::optional<PointFile> read_point(const std::filesystem::path& folder, const std::string& id,
                                    Diagnostics& diagnostics);

// The same JSON with all numbers to so many significant digits.
nlohmann::ordered_json rounded(const nlohmann::ordered_json& json, int digits);
double rounded(double value, int digits);

}  // namespace llmscape::report
