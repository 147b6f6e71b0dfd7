// SPDX-License-Identifier: Apache-2.0
#include "traces/row_reader.hpp"

#include <fmt/format.h>

namespace llmscape::traces {

namespace {

constexpr int kMostBrokenRows = 20;      // that are told
constexpr int kMostRowsBehind = 10'000;  // that are looked at behind the first of them

}  // namespace

std::optional<TraceRecord> RowReader::next(Diagnostics& diagnostics) {
  if (ended_) return std::nullopt;
  auto timed = read_next(diagnostics);
  if (!timed) {
    ended_ = true;
    // Who mends a broken row wants to know of those behind it, too.
    const int first = diagnostics.errors();
    for (int row = 0; broken_ && row < kMostRowsBehind && diagnostics.errors() - first < kMostBrokenRows - 1; ++row)
      tell_next(diagnostics);
    return std::nullopt;
  }
  timed->record.arrival = Seconds(static_cast<double>(timed->nanoseconds - *first_) / 1e9);
  return std::move(timed->record);
}

void RowReader::tell_next(Diagnostics& diagnostics) {
  const auto row = rows_.next(diagnostics);
  broken_ = row.has_value();
  if (row) read(*row);
}

std::optional<TimedRecord> RowReader::read_next(Diagnostics& diagnostics) {
  const int errors_before = diagnostics.errors();
  auto row = rows_.next(diagnostics);
  if (at_start_ && row && read_header(*row))
    row = diagnostics.errors() == errors_before ? rows_.next(diagnostics) : std::nullopt;
  at_start_ = false;
  if (!row) {
    if (!first_ && diagnostics.errors() == errors_before)
      Row({}, rows_.path(), 0, diagnostics).error({}, "the trace has no records");
    return std::nullopt;
  }
  auto timed = read(*row);
  broken_ = !timed;
  if (!timed) return std::nullopt;
  if (first_ && timed->nanoseconds < last_) {
    row->error(timed->time, fmt::format("time runs backwards: {} s before the record above",
                                        static_cast<double>(last_ - timed->nanoseconds) / 1e9));
    return std::nullopt;
  }
  if (!first_) first_ = timed->nanoseconds;
  last_ = timed->nanoseconds;
  return timed;
}

}  // namespace llmscape::traces
