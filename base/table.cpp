// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/standard_streams.hpp"

namespace llmscape {
namespace {

// Code points of a UTF-8 text: all bytes but those that continue one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Where the first line of a text ends that is wider than `width`: at its last space there, but for one before a unit
// ("8 /s"), else behind as many characters.
std::size_t end_of_line(std::string_view text, std::size_t width) {
  std::size_t seen = 0, space = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((text[at] & 0xC0) == 0x80) continue;  // within a character
    if (at > 0 && text[at] == ' ' && !text.substr(at + 1).starts_with('/')) space = at;
    if (seen++ == width) return space > 0 ? space : at;
  }
  return text.size();
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    longest = std::max(longest, width_of(word));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return longest;
}

std::vector<std::string> in_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    const std::size_t end = end_of_line(text, width);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
  lines.emplace_back(text);
  return lines;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = width_of(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

// "12", "-0.5", "3.35 TB/s", "41 %", "2.3x".
bool is_number(std::string_view cell) {
  double ignored = 0;
  const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), ignored);
  const std::string_view rest(end, static_cast<std::size_t>(cell.data() + cell.size() - end));
  return failure == std::errc() && (rest.empty() || rest.front() == ' ' || rest == "%" || rest == "x");
}

bool is_blank(std::string_view cell) { return cell.empty() || cell == "-"; }

using Rows = std::vector<std::vector<std::string>>;

// A column of numbers, perhaps with gaps.
bool is_numeric(const Rows& rows, std::size_t column) {
  bool some = false;
  for (const auto& row : rows) {
    if (is_blank(row[column])) continue;
    if (!is_number(row[column])) return false;
    some = true;
  }
  return some;
}

}  // namespace

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {}

void Table::row(std::vector<std::string> cells) {
  if (cells.size() != header_.size()) throw std::logic_error("a table row must have a cell for each column");
  rows_.push_back(std::move(cells));
}

std::string Table::text(int width) const {
  constexpr std::size_t kGap = 2, kNarrowest = 8, kLongWord = 20;
  const std::size_t columns = header_.size();
  std::vector<std::size_t> widths(columns);
  std::vector<std::size_t> least(columns, kNarrowest);  // a column of text keeps its words whole
  std::vector<bool> numeric(columns);
  std::size_t total = columns > 0 ? kGap * (columns - 1) : 0;
  for (std::size_t c = 0; c < columns; ++c) {
    numeric[c] = is_numeric(rows_, c);
    widths[c] = width_of(header_[c]);
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], width_of(row[c]));
      least[c] = std::clamp(longest_word(row[c]), least[c], kLongWord);
    }
    total += widths[c];
  }
  while (total > static_cast<std::size_t>(std::max(width, 0))) {  // the widest column of text gives way
    std::size_t widest = columns;
    for (std::size_t c = 0; c < columns; ++c)
      if (!numeric[c] && widths[c] > least[c] && (widest == columns || widths[c] > widths[widest])) widest = c;
    if (widest == columns) break;
    --widths[widest];
    --total;
  }

  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> parts;
    std::size_t height = 1;
    for (std::size_t c = 0; c < columns; ++c) {
      parts.push_back(in_lines(cells[c], widths[c]));
      height = std::max(height, parts.back().size());
    }
    for (std::size_t k = 0; k < height; ++k) {
      std::string line;
      for (std::size_t c = 0; c < columns; ++c)
        line += padded(k < parts[c].size() ? parts[c][k] : "", widths[c], numeric[c]) + std::string(kGap, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
  };
  std::vector<std::string> rule;
  for (const std::size_t column_width : widths) rule.emplace_back(column_width, '-');
  add_line(header_);
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return out;
}

std::string Table::markdown() const {
  std::string out;
  const auto add_line = [&out](const std::vector<std::string>& cells) {
    out += '|';
    for (const std::string& cell : cells) {
      out += ' ';
      for (const char c : cell) out += c == '|' ? "\\|" : std::string(1, c);
      out += " |";
    }
    out += '\n';
  };
  std::vector<std::string> rule;
  for (std::size_t c = 0; c < header_.size(); ++c) rule.emplace_back(is_numeric(rows_, c) ? "---:" : "---");
  add_line(header_);
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return out;
}

bool use_colour(ColourMode mode, std::FILE* stream) {
  if (mode != ColourMode::automatic) return mode == ColourMode::always;
  const char* refused = std::getenv("NO_COLOR");  // no-color.org: any text but the empty one refuses
  return ::isatty(::fileno(stream)) && (!refused || *refused == '\0');
}

int terminal_width(std::FILE* stream) {
  winsize size{};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 100;
}

int text_width(std::FILE* stream) { return std::clamp(terminal_width(stream), 40, 100); }

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(std::string label, bool quiet)
    : label_(std::move(label)), quiet_(quiet), terminal_(::isatty(::fileno(stderr))), started_(seconds_now()) {}

Progress::~Progress() {
  if (!quiet_ && terminal_ && last_ >= 0) write_to_stderr("\r\x1b[K");  // the bar leaves no trace
}

void Progress::update(double share) {
  share = std::clamp(share, 0.0, 1.0);
  const double steps = terminal_ ? 100 : 10;
  if (quiet_ || std::floor(share * steps) <= std::floor(last_ * steps)) return;
  last_ = share;
  const double elapsed = seconds_now() - started_;
  const std::string left = share > 0 ? fmt::format(", {:.0f} s left", elapsed / share * (1 - share)) : "";
  if (terminal_) {
    const int filled = static_cast<int>(share * 30);
    write_to_stderr(
        fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {:3.0f} %{}", label_, "", filled, "", 30 - filled, share * 100, left));
  } else {
    write_to_stderr(fmt::format("{}: {:.0f} %{}\n", label_, std::floor(share * steps) * 10, left));
  }
}

}  // namespace llmscape
