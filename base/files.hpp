// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <limits>
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
  // Whether that is a compressed stream which ends before its end. Its whole lines were given.
  [[nodiscard]] bool is_truncated() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a file is at most, once decompressed, that somebody writes by hand or a program describes something in.
inline constexpr std::size_t kMostDescriptionBytes = 64'000'000;

// The whole file, decompressed like lines are, or nothing with `error` set: where it cannot be read, or has more than
// `most` bytes ("larger than 64 MB").
std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error,
                                     std::size_t most = std::numeric_limits<std::size_t>::max());

// A file that is written piece by piece and appears as a whole when it is committed, or not at all.
//
// A new or a regular file is written under a temporary name in the same folder (made exclusively; short, so that it
// fits wherever the name does), synced and then renamed: readers see the old file or the new one, never a part, also
// after a crash of the machine. An old file's permissions stay. A symbolic link stays too, and what it leads to is
// replaced. What is no regular file (a device, a FIFO, an open file as /dev/stdout and /dev/fd/3) is never replaced: it
// is written to where it stands, by commit; so is "-", which is stdout. Creates the folder. All throw
// std::runtime_error with the reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // removes what was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view content);
  void commit();
  // The same where there is no file of that name yet; false where there is one, which stays as it is. Of two programs
  // that try at once one has it.
  bool commit_new();

 private:
  struct Target;
  struct Replacement;
  struct InPlace;
  std::unique_ptr<Target> target_;
};

// Whether a path that was typed is stdout, by "-" or by a name such as /dev/stdout: then nothing else belongs there.
// Throws as AtomicFile does.
bool is_stdout(const std::filesystem::path& path);
// Writes an AtomicFile in one go.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);
// The same by commit_new.
bool write_new_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace llmscape
