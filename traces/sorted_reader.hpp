// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/record_spool.hpp"
#include "traces/request_trace.hpp"
#include "traces/row_reader.hpp"

namespace llmscape::traces {

// What formats share whose rows hold several records, or stand in another order than that of their arrivals (spans are
// written when they end): the file is read as a whole at the first call, and its records are handed out by arrival,
// those of one instant in the order of the file. Memory does not grow with it: what does not fit waits in a temporary
// file (RecordSpool). A broken row ends the reading; the records of the rows before stand.
class SortedReader : public TraceReader {
 public:
  SortedReader(std::string_view format, const std::string& path) : format_(format), rows_(path) {}
  std::optional<TraceRecord> next(Diagnostics& diagnostics) final;
  [[nodiscard]] std::string_view format() const final { return format_; }
  [[nodiscard]] std::optional<Seconds> start() const final {
    return first_ ? std::optional(Seconds(static_cast<double>(*first_) / 1e9)) : std::nullopt;
  }

 protected:
  // Whether the first row is a header; it is then checked here and not read for records.
  virtual bool read_header([[maybe_unused]] const Row& row) { return false; }
  // Appends the records of a row, their times on the file's own clock. False after reporting what is wrong with it.
  virtual bool read(const Row& row, std::vector<TimedRecord>& records) = 0;
  // Called when all rows have been read, or up to a broken one, before a record is handed out.
  virtual void end_of_rows([[maybe_unused]] Diagnostics& diagnostics) {}
  // Whether the record is handed out.
  [[nodiscard]] virtual bool counts([[maybe_unused]] const TraceRecord& record) const { return true; }
  // Called for each record that is handed out, all rows having been read: what only the whole file says of it.
  virtual void complete([[maybe_unused]] TraceRecord& record) const {}
  // A segment that no other record of this trace has.
  Segment unique_content(std::int64_t tokens) { return unique_.segment(tokens); }
  [[nodiscard]] const std::string& path() const { return rows_.path(); }

 private:
  void read_all(Diagnostics& diagnostics);

  std::string_view format_;
  RowFile rows_;
  UniqueContents unique_;
  std::optional<RecordSpool> records_;  // nothing before the file was read
  std::optional<std::int64_t> first_;   // ns
};

}  // namespace llmscape::traces
