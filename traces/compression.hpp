// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace llmscape::traces {

// `content` as a file of that name holds it: gzip for .gz, zstd for .zst, else as it is. The same content gives the
// same bytes (no time stamp) with the same version of the compressor. Throws std::runtime_error when the compressor
// fails.
std::string compressed_for(const std::filesystem::path& path, std::string_view content);

// A file that is written piece by piece, compressed as its name says; it appears as a whole, when it is committed, or
// not at all (AtomicFile). Memory does not grow with it. Its bytes are those of compressed_for, but for .zst beyond 16
// MiB of content, where zstd looks for repetitions in another order; the content is the same. All throw
// std::runtime_error.
class CompressedFile {
 public:
  explicit CompressedFile(const std::filesystem::path& path);
  ~CompressedFile();
  CompressedFile(const CompressedFile&) = delete;
  CompressedFile& operator=(const CompressedFile&) = delete;

  void append(std::string_view content);
  void commit();

 private:
  struct Compressor;
  struct Plain;
  struct Gzip;
  struct Zstd;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace llmscape::traces
