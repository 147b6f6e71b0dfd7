// SPDX-License-Identifier: Apache-2.0
#include "traces/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "traces/csv_header.hpp"
#include "traces/row.hpp"

namespace llmscape::traces {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const TraceFormat& format : trace_formats()) names.emplace_back(format.name);
  return names;
}

// The format that claims the file, or nullptr after reporting.
const TraceFormat* recognise(const std::string& path, std::string_view first_line, const SourceRange& where,
                             Diagnostics& diagnostics) {
  const std::string file_name = std::filesystem::path(path).filename().string();
  for (const TraceFormat& format : trace_formats())
    if (format.recognises(file_name, first_line)) return &format;
  diagnostics.error(where,
                    fmt::format("cannot tell the format of trace '{}' from its first line; name one of {}", path,
                                fmt::join(names(), ", ")),
                    other_separator(first_line) ? "the cells of a table are separated by commas" : "");
  return nullptr;
}

}  // namespace

const std::vector<TraceFormat>& trace_formats() {
  static const std::vector<TraceFormat> formats = {
      azure_csv(), mooncake_jsonl(), ragpulse_jsonl(), vllm_jsonl(),     agent_csv(),
      otlp_json(), dynamo_jsonl(),   weka_jsonl(),     llmscape_jsonl(),
  };
  return formats;
}

std::unique_ptr<TraceReader> open_trace(const std::string& path, std::string_view format, const SourceRange& where,
                                        Diagnostics& diagnostics) {
  const auto named = std::ranges::find(trace_formats(), format, &TraceFormat::name);
  if (!format.empty() && named == trace_formats().end()) {
    diagnostics.error(
        where, fmt::format("unknown trace format {}; it is one of {}", in_quotes(format), fmt::join(names(), ", ")),
        did_you_mean(format, names()));
    return nullptr;
  }
  LineReader lines(path);
  const auto first_line = lines.next();
  if (!first_line) {
    diagnostics.error(where, fmt::format("trace '{}': {}", path, lines.error().empty() ? "is empty" : lines.error()));
    return nullptr;
  }
  const TraceFormat* chosen = format.empty() ? recognise(path, *first_line, where, diagnostics) : &*named;
  return chosen ? chosen->open(path, diagnostics) : nullptr;
}

}  // namespace llmscape::traces
