// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace llmscape {

// The content of a file, a piece at a time, with gzip and zstd (recognised by their first bytes) already undone. What
// comes through a pipe (`<(zcat trace.gz)`, a FIFO) can be opened again under its name: its first reader keeps it.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next bytes, valid until the next call; empty at the end or on an error.
  virtual std::string_view next() = 0;
  // What went wrong: "truncated gzip stream"; empty if nothing.
  [[nodiscard]] const std::string& error() const { return error_; }
  // Whether that is a compressed stream which ends before its end: all that is there was given.
  [[nodiscard]] bool is_truncated() const { return truncated_; }

 protected:
  void end_early(const char* what) {
    error_ = what;
    truncated_ = true;
  }
  std::string error_;

 private:
  bool truncated_ = false;
};

// Never null: a file that cannot be opened gives a source without bytes and with an error.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path);

}  // namespace llmscape
