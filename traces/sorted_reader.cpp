// SPDX-License-Identifier: Apache-2.0
#include "traces/sorted_reader.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::traces {

std::optional<TraceRecord> SortedReader::next(Diagnostics& diagnostics) {
  if (!records_) read_all(diagnostics);
  if (handed_out_ == records_->size()) return std::nullopt;
  TimedRecord& timed = (*records_)[handed_out_++];
  timed.record.arrival = Seconds(static_cast<double>(timed.nanoseconds - records_->front().nanoseconds) / 1e9);
  return std::move(timed.record);
}

void SortedReader::read_all(Diagnostics& diagnostics) {
  records_.emplace();
  const int errors = diagnostics.errors();
  auto row = rows_.next(diagnostics);
  if (row && read_header(*row)) row = diagnostics.errors() == errors ? rows_.next(diagnostics) : std::nullopt;
  while (row && read(*row, *records_)) row = rows_.next(diagnostics);
  if (records_->empty() && diagnostics.errors() == errors)
    Row({}, rows_.path(), 0, diagnostics).error({}, "the trace has no records");
  finish(*records_);
  std::ranges::stable_sort(*records_, {}, &TimedRecord::nanoseconds);
}

}  // namespace llmscape::traces
