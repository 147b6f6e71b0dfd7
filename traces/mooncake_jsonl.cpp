// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/row_reader.hpp"

// Mooncake traces (github.com kvcache-ai/Mooncake, FAST25-release/traces). An id names a block together with all that
// stands before it, so blocks as content segments give exact prefix identity; the last block may be partial. Arrivals
// stay as they are recorded: the conversation trace has ticks of 3 s, which whoever replays it may spread.
namespace llmscape::traces {
namespace {

constexpr std::string_view kMooncake = "mooncake-jsonl";
constexpr std::int64_t kBlockTokens = 512;
const JsonKeys kMooncakeKeys = {{"timestamp", "input_length", "output_length", "hash_ids"}, {}};

class MooncakeReader final : public RowReader {
 public:
  explicit MooncakeReader(const std::string& path) : RowReader(kMooncake, path) {}

 private:
  std::optional<TimedRecord> read(const Row& row) override {
    const auto object = parse_object(row);
    if (!object || !check_keys(*object, kMooncakeKeys, row)) return std::nullopt;
    const JsonValue& stamp = *object->find("timestamp");
    const auto time = row.nanoseconds({"timestamp", stamp.span}, kNanosecondsPerMs);
    const auto tokens = row.tokens({"input_length", object->find("input_length")->span});
    const auto output = row.tokens({"output_length", object->find("output_length")->span});
    const JsonValue* ids = find_list(*object, "hash_ids", row);
    if (!time || !tokens || !output || !ids) return std::nullopt;

    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = stamp.span;
    timed.record.prompt_tokens = *tokens;
    timed.record.output_tokens = *output;
    timed.record.known_content = true;
    const std::int64_t blocks = (*tokens + kBlockTokens - 1) / kBlockTokens;
    if (static_cast<std::int64_t>(ids->items.size()) != blocks) {
      row.error(ids->span, fmt::format("{} ids for {} tokens; blocks of {} tokens make {}", ids->items.size(), *tokens,
                                       kBlockTokens, blocks));
      return std::nullopt;
    }
    std::int64_t left = *tokens;
    for (const JsonValue& item : ids->items) {
      const auto id = row.id({"hash_ids", item.span});
      if (!id) return std::nullopt;
      timed.record.prompt.push_back({*id, std::min(left, kBlockTokens)});
      left -= kBlockTokens;
    }
    return timed;
  }
};

}  // namespace

TraceFormat mooncake_jsonl() {
  return {kMooncake, "Mooncake traces: arrival, lengths, and one prefix id for each 512 prompt tokens",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("\"hash_ids\"") != first_line.npos &&
                   first_line.find("\"input_length\"") != first_line.npos &&
                   first_line.find("\"session_id\"") == first_line.npos;
          },
          &open_as<MooncakeReader>};
}

}  // namespace llmscape::traces
