// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include "base/byte_source.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace llmscape {

struct LineReader::State {
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  std::unique_ptr<ByteSource> source;
  std::string_view unread;  // of the source's last piece
  std::string carried;      // the start of a line that goes on in the next piece
  int line = 0;
  std::string error;

  bool refill() {
    unread = source->next();
    error = source->error();
    return !unread.empty();
  }
};

LineReader::LineReader(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  state_->source = open_bytes(path);
  state_->refill();
  if (state_->unread.starts_with(kByteOrderMark)) state_->unread.remove_prefix(kByteOrderMark.size());
}
LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

std::optional<std::string_view> LineReader::next() {
  State& s = *state_;
  s.carried.clear();
  std::string_view line;
  while (true) {
    if (!s.error.empty()) return {};
    const std::size_t end = s.unread.find('\n');
    const std::string_view piece = s.unread.substr(0, end);
    if (s.carried.size() + piece.size() > State::kLongestLine) {
      s.error = "line longer than 64 MiB";
      return {};
    }
    if (end != std::string_view::npos && s.carried.empty()) {
      line = piece;
    } else {
      s.carried += piece;
      line = s.carried;
    }
    if (end != std::string_view::npos) {
      s.unread.remove_prefix(end + 1);
      break;
    }
    if (!s.refill()) {
      if (!s.error.empty() || s.carried.empty()) return {};
      break;
    }
  }
  ++s.line;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

int LineReader::line() const { return state_->line; }
const std::string& LineReader::error() const { return state_->error; }

std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error) {
  std::string content;
  const auto source = open_bytes(path);
  for (std::string_view piece = source->next(); !piece.empty(); piece = source->next()) content += piece;
  if (source->error().empty()) return content;
  error = source->error();
  return {};
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code failure;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), failure);
  if (failure) fail(failure.message());
  // Exclusively: machines that share the folder may have processes of the same number.
  for (int attempt = 0; !file_; ++attempt) {
    temporary_ = path_.parent_path() / fmt::format(".{}.{}.{}.tmp", path_.filename().string(), ::getpid(), attempt);
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (!file_ && errno != EEXIST) fail(std::generic_category().message(errno));
  }
}

AtomicFile::~AtomicFile() {
  if (file_) std::fclose(file_);
  std::error_code ignored;
  if (!committed_) std::filesystem::remove(temporary_, ignored);
}

void AtomicFile::append(std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), file_) != content.size())
    fail(std::generic_category().message(errno));
}

void AtomicFile::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(std::generic_category().message(errno));
  std::error_code failure;
  std::filesystem::rename(temporary_, path_, failure);
  if (failure) fail(failure.message());
  committed_ = true;
}

void AtomicFile::fail(const std::string& reason) const {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path_.string(), reason));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.append(content);
  file.commit();
}

}  // namespace llmscape
