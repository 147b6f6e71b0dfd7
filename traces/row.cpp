// SPDX-License-Identifier: Apache-2.0
#include "traces/row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "traces/cells.hpp"

namespace llmscape::traces {
namespace {

constexpr std::int64_t kMaxTokens = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kLongestShown = 64 << 10;
constexpr double kMaxNanoseconds = 9223372036854775808.0;  // 2^63

}  // namespace

SourceRange Row::place(Span where) const {
  const bool shown = text_.size() <= kLongestShown;  // a message keeps its line
  if (!source_)
    source_ = std::make_shared<SourceText>(SourceText{*file_, shown ? std::string(text_) : std::string(), line_});
  return {source_, line_, static_cast<int>(where.position) + 1, static_cast<int>(where.length)};
}

void Row::error(Span where, std::string message, std::string suggestion) const {
  diagnostics_->error(place(where), std::move(message), std::move(suggestion));
}

std::optional<std::int64_t> Row::tokens(const Cell& cell, std::int64_t least) const {
  const auto value = parse_number<std::int64_t>(text(cell.span));
  if (value && *value >= least && *value <= kMaxTokens) return value;
  error(cell.span, fmt::format("'{}' must be a whole number of tokens from {} to {}; got {}", cell.name, least,
                               kMaxTokens, in_quotes(text(cell.span))));
  return std::nullopt;
}

std::optional<std::uint64_t> Row::id(const Cell& cell) const {
  const auto value = parse_number<std::uint64_t>(text(cell.span));
  if (!value)
    error(cell.span, fmt::format("'{}' must hold whole numbers from 0 to 2^64 - 1; got {}", cell.name,
                                 in_quotes(text(cell.span))));
  return value;
}

std::optional<std::int64_t> Row::nanoseconds(const Cell& cell, std::int64_t unit) const {
  const std::string_view digits = text(cell.span);
  const auto whole = parse_number<std::int64_t>(digits);
  if (whole && *whole >= 0 && *whole <= std::numeric_limits<std::int64_t>::max() / unit) return *whole * unit;
  if (const auto value = parse_number<double>(digits)) {
    const double scaled = std::round(*value * static_cast<double>(unit));
    if (scaled >= 0 && scaled < kMaxNanoseconds) return static_cast<std::int64_t>(scaled);
  }
  error(cell.span, fmt::format("'{}' must be a time of at least 0 and below 2^63 ns, some 292 years; got {}", cell.name,
                               in_quotes(digits)));
  return std::nullopt;
}

std::optional<Row> RowFile::next(Diagnostics& diagnostics) {
  if (!errors_before_) errors_before_ = diagnostics.errors();
  if (diagnostics.errors() - *errors_before_ >= kMostErrors) {
    Row({}, path_, lines_.line() + 1, diagnostics)
        .error({}, fmt::format("after {} mistakes the rest of the file was not read", kMostErrors));
    return std::nullopt;
  }
  while (const auto line = lines_.next())
    if (line->find_first_not_of(" \t") != std::string_view::npos) return Row(*line, path_, lines_.line(), diagnostics);
  const Row behind({}, path_, lines_.line() + 1, diagnostics);
  if (lines_.is_truncated() && cut_ == Cut::warning)
    diagnostics.warning(behind.place({}), fmt::format("{}: the file was cut, and the {} whole lines before are read",
                                                      lines_.error(), lines_.line()));
  else if (!lines_.error().empty()) behind.error({}, lines_.error());
  return std::nullopt;
}

}  // namespace llmscape::traces
