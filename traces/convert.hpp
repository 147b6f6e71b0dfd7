// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "base/quantity.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::traces {

// A part of a trace: the records in the time window, and of these those in the range.
struct TraceSlice {
  std::int64_t first = 0;               // of them, from 0
  std::optional<std::int64_t> count{};  // to the end if absent
  Seconds from{};                       // arrivals at or after ...
  std::optional<Seconds> to{};          // ... and before; to the end if absent
};

struct Conversion {
  TraceSlice slice{};
  bool rebase = false;     // count arrivals from the first record kept
  double time_factor = 1;  // of the arrivals, after that: 0.1 is ten times the load; above 0
};

// Hands the trace in the project's own format to `write`, line by line, header first (traces/llmscape_jsonl.cpp). False
// after reporting: a broken row before the end of the slice, a slice or factor that makes no sense, no record left.
// What was written until then is then of no use.
bool to_llmscape_jsonl(TraceReader& trace, const Conversion& conversion, const SourceRange& where,
                       Diagnostics& diagnostics, const std::function<void(std::string_view)>& write);

// Writes it to `output`, compressed if that ends in .gz or .zst, as a whole or not at all. False after reporting;
// std::runtime_error where it cannot be written.
// Memory does not grow with the trace, but for what its reader holds of it.
bool convert(TraceReader& trace, const std::filesystem::path& output, const Conversion& conversion,
             const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::traces
