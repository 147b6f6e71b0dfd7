// SPDX-License-Identifier: Apache-2.0
#include "traces/sorted_reader.hpp"

#include <stdexcept>
#include <utility>

namespace llmscape::traces {

std::optional<TraceRecord> SortedReader::next(Diagnostics& diagnostics) {
  try {
    if (!records_) read_all(diagnostics);
    auto timed = records_->next();
    while (timed && !counts(timed->record)) timed = records_->next();
    if (!timed) return std::nullopt;
    if (!first_) first_ = timed->nanoseconds;
    timed->record.arrival = Seconds(static_cast<double>(timed->nanoseconds - *first_) / 1e9);
    complete(timed->record);
    return std::move(timed->record);
  } catch (const std::runtime_error& failure) {  // of the temporary file
    records_.emplace();
    Row({}, rows_.path(), 0, diagnostics).error({}, failure.what());
    return std::nullopt;
  }
}

void SortedReader::read_all(Diagnostics& diagnostics) {
  records_.emplace();
  const int errors = diagnostics.errors();
  bool empty = true;
  std::vector<TimedRecord> of_row;
  const auto keep = [&] {
    for (const TimedRecord& record : of_row) records_->add(record);
    empty = empty && of_row.empty();
    of_row.clear();
  };
  auto row = rows_.next(diagnostics);
  if (row && read_header(*row)) row = diagnostics.errors() == errors ? rows_.next(diagnostics) : std::nullopt;
  while (row && read(*row, of_row)) {
    keep();
    row = rows_.next(diagnostics);
  }
  keep();
  if (empty && diagnostics.errors() == errors)
    Row({}, rows_.path(), 0, diagnostics).error({}, "the trace has no records");
  records_->sort();
  end_of_rows(diagnostics);
}

}  // namespace llmscape::traces
