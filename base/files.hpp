// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.hpp"

namespace llmscape {

// Reads lines from a plain, gzip or zstd file (recognised by its first bytes), streamed. Lines end at LF; a CR before
// it is dropped; a byte-order mark at the start is skipped.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  // The next line, valid until the next call; nothing at the end or on an error.
  std::optional<std::string_view> next();
  [[nodiscard]] int line() const;  // number of the line returned last, from 1
  // What went wrong: "cannot open: No such file", "truncated gzip stream", "line longer than 64 MiB"; empty if nothing.
  [[nodiscard]] const std::string& error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The whole file, decompressed like lines are, or nothing with `error` set.
std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error);
// A file that is written piece by piece under a temporary name in the same folder, which is renamed at the end: readers
// see the old file or the new one, never a part. Creates the folder. All throw std::runtime_error with the reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // removes what was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view content);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::filesystem::path path_, temporary_;
  std::FILE* file_ = nullptr;
  bool committed_ = false;
};

// Writes under a temporary name in the same folder, then renames: readers see the old file or the new one, never a
// part. Creates the folder. Throws std::runtime_error with the reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace llmscape
