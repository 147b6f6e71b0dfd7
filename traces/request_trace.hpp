// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/quantity.hpp"
#include "traces/content.hpp"

namespace llmscape::traces {

// One recorded model call.
struct TraceRecord {
  Seconds arrival;  // from the trace's first record (which is at 0)
  Prompt prompt;    // content ids where the format has them; else one segment of unique content
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::string session;               // conversation, empty if the format has none
  bool known_content = false;        // the prompt's segments mean something to a prefix cache
  std::optional<Seconds> give_up{};  // the caller gave the call up this long after it came
};

// Streams a file record by record; holds one record (and ids seen, where content must be mapped) in memory. Of formats
// whose rows do not stand by arrival some 20 MB, and a temporary file beyond (traces/sorted_reader.hpp).
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  // The next record, in order of arrival; nothing at the end. A broken record goes to `diagnostics` with file:line:col
  // and ends the trace: records before it stand, has_errors() tells. Of formats whose rows stand by arrival up to
  // twenty rows are told. Checked for every format: numbers finite and in range, prompt and output from 1 to 2^31 - 1
  // tokens (an answer without tokens is an error: nothing can be simulated), time not running backwards, unknown,
  // missing or repeated columns and keys, truncated compression, no record at all.
  virtual std::optional<TraceRecord> next(Diagnostics& diagnostics) = 0;
  // "azure-csv", "mooncake-jsonl", ...
  [[nodiscard]] virtual std::string_view format() const = 0;
  // When the first record came, by the file's own clock; nothing before it was read, or where the file has none.
  [[nodiscard]] virtual std::optional<Seconds> start() const { return std::nullopt; }
};

// One format: how to recognise it from the file name and its first line, and how to open it.
struct TraceFormat {
  std::string_view name, text;
  bool (*recognises)(std::string_view file_name, std::string_view first_line);
  std::unique_ptr<TraceReader> (*open)(const std::string& path, Diagnostics& diagnostics);
};
// azure-csv, mooncake-jsonl, ragpulse-jsonl, vllm-jsonl (input_toks/output_toks/arrival_time_ns with optional token
// ids, and ShareGPT with lengths), agent-csv, otlp-json, dynamo-jsonl, weka-jsonl, llmscape-jsonl (our own).
const std::vector<TraceFormat>& trace_formats();

// Opens `path` (plain, .gz or .zst by content) in the format named, or recognised when `format` is empty. nullptr after
// reporting to `diagnostics` at `where`.
std::unique_ptr<TraceReader> open_trace(const std::string& path, std::string_view format, const SourceRange& where,
                                        Diagnostics& diagnostics);

}  // namespace llmscape::traces
