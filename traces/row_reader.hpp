// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "traces/request_trace.hpp"
#include "traces/row.hpp"

namespace llmscape::traces {

// A record with its time on the file's own clock.
struct TimedRecord {
  TraceRecord record;  // `arrival` is filled by RowReader
  std::int64_t nanoseconds = 0;
  Span time;  // where the time stands, for messages
};

// Contents that nothing else of a trace has, for prompts without content ids.
class UniqueContents {
 public:
  Segment segment(std::int64_t tokens) {
    constexpr ContentId kUnique = ContentId{1} << 63;  // far from the small ids that files use
    return {kUnique | next_++, tokens};
  }

 private:
  std::uint64_t next_ = 0;
};

// What formats share whose rows stand by arrival: one record a row, an optional header, arrivals in order and counted
// from the first record.
class RowReader : public TraceReader {
 public:
  RowReader(std::string_view format, const std::string& path) : format_(format), rows_(path) {}
  std::optional<TraceRecord> next(Diagnostics& diagnostics) final;
  [[nodiscard]] std::string_view format() const final { return format_; }
  [[nodiscard]] std::optional<Seconds> start() const final {
    return first_ ? std::optional(Seconds(static_cast<double>(*first_) / 1e9)) : std::nullopt;
  }

 protected:
  // Whether the first row is a header; it is then checked here and not read as a record.
  virtual bool read_header([[maybe_unused]] const Row& row) { return false; }
  // The record of a row, or nothing after reporting what is wrong with it.
  virtual std::optional<TimedRecord> read(const Row& row) = 0;
  // A segment that no other record of this trace has.
  Segment unique_content(std::int64_t tokens) { return unique_.segment(tokens); }

 private:
  std::optional<TimedRecord> read_next(Diagnostics& diagnostics);
  // Of a row behind a broken one only what is wrong with it.
  void tell_next(Diagnostics& diagnostics);

  std::string_view format_;
  RowFile rows_;
  bool at_start_ = true, ended_ = false;
  bool broken_ = false;  // the row that was read last
  std::optional<std::int64_t> first_;
  std::int64_t last_ = 0;
  UniqueContents unique_;
};

// TraceFormat::open for readers that need nothing but the file.
template <class Reader>
std::unique_ptr<TraceReader> open_as(const std::string& path, Diagnostics&) {
  return std::make_unique<Reader>(path);
}

}  // namespace llmscape::traces
