// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.hpp"
#include "base/files.hpp"

namespace llmscape::traces {

inline constexpr std::int64_t kNanosecondsPerMs = 1'000'000, kNanosecondsPerSecond = 1'000'000'000;

// Where something stands in a line: bytes from 0.
struct Span {
  std::size_t position = 0;
  std::size_t length = 1;
};

// A named value of a row (a CSV cell, a JSON value): the name is for messages.
struct Cell {
  std::string_view name;
  Span span;
};

// The line being read, and where its mistakes go.
class Row {
 public:
  Row(std::string_view text, const std::string& file, int line, Diagnostics& diagnostics)
      : text_(text), file_(&file), line_(line), diagnostics_(&diagnostics) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::string_view text(Span span) const { return text_.substr(span.position, span.length); }
  // For messages that are not reported at once.
  [[nodiscard]] SourceRange place(Span where) const;
  // Reports `file:line:col: error: message`.
  void error(Span where, std::string message, std::string suggestion = {}) const;

  // Each reads one cell, or reports and returns nothing.
  // A number of tokens: whole, `least` to 2^31 - 1.
  [[nodiscard]] std::optional<std::int64_t> tokens(const Cell& cell, std::int64_t least = 1) const;
  // A content id: whole, 0 to 2^64 - 1.
  [[nodiscard]] std::optional<std::uint64_t> id(const Cell& cell) const;
  // A time of at least 0 in units of `unit` nanoseconds, rounded to whole nanoseconds; below 2^63 of them (292 years).
  [[nodiscard]] std::optional<std::int64_t> nanoseconds(const Cell& cell, std::int64_t unit) const;

 private:
  std::string_view text_;
  const std::string* file_;
  int line_;
  Diagnostics* diagnostics_;
  mutable std::shared_ptr<const SourceText> source_;  // made for the first message, shared by all
};

// The rows of a file; blank lines are skipped. After kMostErrors reports the rest is not read, so that messages about a
// file of any size fit the memory.
class RowFile {
 public:
  static constexpr int kMostErrors = 1000;
  enum class Cut { error, warning };  // what a compressed stream is that ends early
  explicit RowFile(std::string path, Cut cut = Cut::error) : path_(std::move(path)), lines_(path_), cut_(cut) {}
  // The next row, valid until the next call; nothing at the end, or after reporting what broke the stream.
  std::optional<Row> next(Diagnostics& diagnostics);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  LineReader lines_;
  Cut cut_;
  std::optional<int> errors_before_;  // reports before the first row
};

}  // namespace llmscape::traces
