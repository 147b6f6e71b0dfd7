// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::traces {

// Which columns of a CSV file with a header, or keys of a JSON Lines file, say what of a call.
struct ColumnMapping {
  std::string arrival, prompt, output;
  std::string session;                      // empty: the file has no conversations
  std::optional<std::int64_t> nanoseconds;  // of one unit of `arrival`; nothing: dates and times
};

// Units of arrival times: ns, us, ms, s, min, and "date" for dates and times (traces/date_time.hpp).
std::vector<std::string> time_unit_names();

// `columns` is "arrival=NAME,prompt=NAME,output=NAME" and, where there is one, "session=NAME", in any order. A name may
// hold anything but a comma. Nothing after reporting every mistake at its place in what was typed.
std::optional<ColumnMapping> parse_column_mapping(const std::string& columns, const std::string& unit,
                                                  Diagnostics& diagnostics);

// Reads any table of calls: CSV, or JSON Lines where a name is a key of the object, or keys from the outermost inwards
// with points between them ("usage.prompt_tokens"). Other columns and keys are passed over, and rows may stand in any
// order. nullptr after reporting at `where` that the file cannot be opened.
std::unique_ptr<TraceReader> open_mapped_trace(const std::string& path, ColumnMapping mapping, const SourceRange& where,
                                               Diagnostics& diagnostics);

}  // namespace llmscape::traces
