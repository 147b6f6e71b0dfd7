// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/quantity.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::traces {

// A part of a trace: the records that are in the row range and in the time window.
struct TraceSlice {
  std::int64_t first = 0;               // record, from 0
  std::optional<std::int64_t> count{};  // to the end if absent
  Seconds from{};                       // arrivals at or after ...
  std::optional<Seconds> to{};          // ... and before; to the end if absent
};

struct Conversion {
  TraceSlice slice{};
  bool rebase = false;     // count arrivals from the first record kept
  double time_factor = 1;  // of the arrivals, after that: 0.1 is ten times the load; above 0
};

// The trace in the project's own format, header first (traces/llmscape_jsonl.cpp).
// Nothing after reporting: a broken row before the end of the slice, a slice or factor that makes no sense, no record
// left.
std::optional<std::string> to_llmscape_jsonl(TraceReader& trace, const Conversion& conversion, const SourceRange& where,
                                             Diagnostics& diagnostics);

// Writes it to `output`, compressed if that ends in .gz or .zst, as a whole or not at all. False after reporting.
bool convert(TraceReader& trace, const std::filesystem::path& output, const Conversion& conversion,
             const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::traces
