// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <set>

namespace llmscape {

// While one lives, it hears of every file that this process opens to read, or tries or asks for: descriptions, models,
// traces and the tables beside them. What a result comes from is told by what was opened, not by what a scenario names.
// They may be nested; the innermost hears. The program has one thread.
class OpenedFiles {
 public:
  OpenedFiles();
  ~OpenedFiles();
  OpenedFiles(const OpenedFiles&) = delete;
  OpenedFiles& operator=(const OpenedFiles&) = delete;

  // As they were opened, sorted; a relative path starts from the working directory.
  [[nodiscard]] const std::set<std::filesystem::path>& paths() const { return paths_; }

 private:
  friend void note_opened(const std::filesystem::path& path);
  OpenedFiles* outer_;
  std::set<std::filesystem::path> paths_;
};

// For who opens a file, and for who gives what it remembers of one instead.
void note_opened(const std::filesystem::path& path);

// Whether a file of that name stands there, for who does without it where it does not. It is heard of either way: one
// that appears later changes what comes out.
bool stands_there(const std::filesystem::path& path);

}  // namespace llmscape
