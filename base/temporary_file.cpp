// SPDX-License-Identifier: Apache-2.0
#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace llmscape {
namespace {

constexpr std::size_t kPiece = 1 << 18;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("cannot {} a temporary file: {}", what, std::generic_category().message(errno)));
}

}  // namespace

TemporaryFile::TemporaryFile() {
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
  if (failure) throw std::runtime_error(fmt::format("cannot make a temporary file: {}", failure.message()));
  std::string name = (folder / "llmscape-XXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("make");
  ::unlink(name.c_str());
  unwritten_.reserve(kPiece);
}

TemporaryFile::~TemporaryFile() { ::close(file_); }

void TemporaryFile::append(std::string_view content) {
  unwritten_.insert(unwritten_.end(), content.begin(), content.end());
  size_ += content.size();
  if (unwritten_.size() >= kPiece) flush();
}

void TemporaryFile::flush() {
  for (std::string_view rest(unwritten_.data(), unwritten_.size()); !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  unwritten_.clear();
}

void TemporaryFile::read(std::uint64_t at, char* into, std::size_t bytes) {
  flush();
  while (bytes > 0) {
    const ssize_t got = ::pread(file_, into, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) fail("read");
    into += got;
    at += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

}  // namespace llmscape
