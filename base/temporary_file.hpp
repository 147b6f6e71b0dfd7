// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace llmscape {

// A file without a name in the system's folder for temporary files (TMPDIR), for what does not fit the memory; gone
// with the object, however the program ends. All throw std::runtime_error with the reason.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(std::string_view content);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // The `bytes` bytes from `at` into `into`; they were appended before.
  void read(std::uint64_t at, char* into, std::size_t bytes);

 private:
  void flush();

  int file_ = -1;
  std::uint64_t size_ = 0;
  std::vector<char> unwritten_;  // the end of it
};

}  // namespace llmscape
