// SPDX-License-Identifier: Apache-2.0
#include "traces/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traces/compression.hpp"

namespace llmscape::traces {
namespace {

constexpr double kLatestArrival = 9e9;  // s; readers hold nanoseconds in 64 bits

bool makes_sense(const Conversion& conversion, const SourceRange& where, Diagnostics& diagnostics) {
  const TraceSlice& slice = conversion.slice;
  const int errors_before = diagnostics.errors();
  if (slice.first < 0) diagnostics.error(where, fmt::format("a slice cannot begin at record {}", slice.first));
  if (slice.count && *slice.count < 1)
    diagnostics.error(where, fmt::format("a slice cannot have {} records", *slice.count));
  if (!(slice.from.si() >= 0)) diagnostics.error(where, fmt::format("a slice cannot begin at {} s", slice.from.si()));
  if (slice.to && !(*slice.to > slice.from))
    diagnostics.error(where, fmt::format("a slice from {} s to {} s is empty", slice.from.si(), slice.to->si()));
  if (!(conversion.time_factor > 0) || !std::isfinite(conversion.time_factor))
    diagnostics.error(where, fmt::format("the time factor must be above 0; got {}", conversion.time_factor));
  return diagnostics.errors() == errors_before;
}

void append_row(const TraceRecord& record, Seconds arrival, std::string& out) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, R"({{"arrival_s": {}, )", arrival.si());
  if (record.known_content) {
    const char* separator = R"("prompt": [)";
    for (const Segment& s : record.prompt) {
      fmt::format_to(end, "{}[{}, {}", separator, s.id, s.tokens);
      if (s.offset > 0) fmt::format_to(end, ", {}", s.offset);
      out += ']';
      separator = ", ";
    }
    out += ']';
  } else {
    fmt::format_to(end, R"("prompt_tokens": {})", record.prompt_tokens);
  }
  fmt::format_to(end, R"(, "output_tokens": {})", record.output_tokens);
  if (!record.session.empty()) fmt::format_to(end, R"(, "session": {})", nlohmann::json(record.session).dump());
  if (record.give_up) fmt::format_to(end, R"(, "give_up_s": {})", record.give_up->si());
  out += "}\n";
}

}  // namespace

bool to_llmscape_jsonl(TraceReader& trace, const Conversion& conversion, const SourceRange& where,
                       Diagnostics& diagnostics, const std::function<void(std::string_view)>& write) {
  if (!makes_sense(conversion, where, diagnostics)) return false;
  const TraceSlice& slice = conversion.slice;
  const int errors_before = diagnostics.errors();
  write("{\"schema\": \"trace/1\"}\n");
  std::string line;
  std::optional<Seconds> origin;
  std::int64_t in_time = 0;  // records so far that are in the time window
  for (std::int64_t index = 0; !slice.count || in_time - slice.first < *slice.count; ++index) {
    const auto record = trace.next(diagnostics);
    if (!record || (slice.to && record->arrival >= *slice.to)) break;
    if (record->arrival < slice.from || in_time++ < slice.first) continue;
    if (!origin) origin = conversion.rebase ? record->arrival : Seconds(0);
    const Seconds arrival = (record->arrival - *origin) * conversion.time_factor;
    if (arrival.si() > kLatestArrival) {
      diagnostics.error(where, fmt::format("a time factor of {} puts record {} beyond {} s", conversion.time_factor,
                                           index, kLatestArrival));
      break;
    }
    line.clear();
    append_row(*record, arrival, line);
    write(line);
  }
  if (diagnostics.errors() != errors_before) return false;
  if (origin) return true;
  diagnostics.error(where, "the slice holds no record of the trace");
  return false;
}

bool convert(TraceReader& trace, const std::filesystem::path& output, const Conversion& conversion,
             const SourceRange& where, Diagnostics& diagnostics) {
  CompressedFile file(output);
  if (!to_llmscape_jsonl(trace, conversion, where, diagnostics, [&file](std::string_view text) { file.append(text); }))
    return false;
  file.commit();
  return true;
}

}  // namespace llmscape::traces
