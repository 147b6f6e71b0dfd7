// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::cli {

// Where `observe` writes the scenario and the trace that it replays: the user's folder, or one of its own, which is
// gone at the end. Unless keep() is called the user's is left as it was.
class ObservedFolder {
 public:
  explicit ObservedFolder(const std::string& users);  // "": none
  ~ObservedFolder();
  ObservedFolder(const ObservedFolder&) = delete;
  ObservedFolder& operator=(const ObservedFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_users() const { return users_; }
  // Reports what would be lost in it.
  void report_foreign(bool overwrite, Diagnostics& diagnostics) const;
  // Makes it, if it is not there: relative paths of its scenario lead through it.
  void make();
  void write_trace(const std::string& text);
  // Keeps the trace that was written, and these. What stands there of other measurements would be taken for theirs, and
  // goes, but what this call reads.
  void keep(const std::string& observed, const std::optional<std::string>& scenario,
            const std::optional<std::string>& host, const std::vector<std::filesystem::path>& reads);

 private:
  void put_back();

  std::filesystem::path path_;
  bool users_, traced_ = false, kept_ = false;
  std::vector<std::filesystem::path> made_;  // folders, the innermost first
};

}  // namespace llmscape::cli
