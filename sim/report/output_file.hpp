// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace llmscape::report {

// A file that is written piece by piece under a temporary name in the same folder, and takes its own name when it is
// kept: readers never see a part of it. One that is not kept is gone.
class OutputFile {
 public:
  // Throws std::runtime_error with the reason, as do the others.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void keep();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, temporary_;
  std::FILE* file_;
};

}  // namespace llmscape::report
