// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include "base/byte_source.hpp"
#include "base/utf8.hpp"

#include <string>
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
bool LineReader::is_truncated() const { return state_->source->is_truncated(); }

std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error, std::size_t most) {
  std::string content;
  const auto source = open_bytes(path);
  for (std::string_view piece = source->next(); !piece.empty(); piece = source->next()) {
    if (piece.size() > most - content.size()) {
      error = "larger than " + std::to_string(most / 1'000'000) + " MB";
      return {};
    }
    content += piece;
  }
  if (source->error().empty()) return content;
  error = source->error();
  return {};
}

}  // namespace llmscape
