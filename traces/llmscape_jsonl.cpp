// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/row_reader.hpp"

// The project's own format, which convert() writes: {"arrival_s", "prompt": [[id, tokens], ...], "output_tokens",
// "session"?, "give_up_s"?}. A segment that does not begin at the start of its content has its offset as a third number
// (0: it does); a prompt of unknown content is "prompt_tokens" instead of "prompt". The first row may be {"schema":
// "trace/1"}.
namespace llmscape::traces {
namespace {

constexpr std::string_view kLlmscapeFormat = "llmscape-jsonl";
constexpr std::string_view kTraceSchema = "trace/1";
const JsonKeys kHeaderKeys = {{"schema"}, {}};
const JsonKeys kKeys = {{"arrival_s", "output_tokens"}, {"prompt", "prompt_tokens", "session", "give_up_s"}};

class LlmscapeReader final : public RowReader {
 public:
  explicit LlmscapeReader(const std::string& path) : RowReader(kLlmscapeFormat, path) {}

 private:
  bool read_header(const Row& row) override {
    if (row.text().find("\"schema\"") == std::string_view::npos) return false;
    const auto object = parse_object(row);
    if (!object || !check_keys(*object, kHeaderKeys, row)) return true;
    const JsonValue* schema = find_text(*object, "schema", row);
    if (schema && schema->text != kTraceSchema)
      row.error(schema->span, fmt::format("this reads schema {}, not {}", kTraceSchema, in_quotes(schema->text)));
    return true;
  }

  std::optional<TimedRecord> read(const Row& row) override {
    const auto object = parse_object(row);
    if (!object || !check_keys(*object, kKeys, row)) return std::nullopt;
    const JsonValue& stamp = *object->find("arrival_s");
    const auto time = row.nanoseconds({"arrival_s", stamp.span}, kNanosecondsPerSecond);
    const auto output = row.tokens({"output_tokens", object->find("output_tokens")->span});
    const JsonValue* session = find_text(*object, "session", row);
    if (!time || !output || (object->find("session") && !session)) return std::nullopt;
    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = stamp.span;
    timed.record.output_tokens = *output;
    if (session) timed.record.session = session->text;
    if (const JsonValue* give_up = object->find("give_up_s")) {
      const auto after = row.nanoseconds({"give_up_s", give_up->span}, kNanosecondsPerSecond);
      if (!after) return std::nullopt;
      timed.record.give_up = Seconds(static_cast<double>(*after) / static_cast<double>(kNanosecondsPerSecond));
    }
    if (!read_prompt(*object, row, timed.record)) return std::nullopt;
    return timed;
  }

  bool read_prompt(const JsonValue& object, const Row& row, TraceRecord& record) {
    const JsonValue* length = object.find("prompt_tokens");
    if ((length != nullptr) == (object.find("prompt") != nullptr)) {
      row.error({object.span.position}, "a row has either 'prompt' or 'prompt_tokens'");
      return false;
    }
    if (length) {
      const auto tokens = row.tokens({"prompt_tokens", length->span});
      if (!tokens) return false;
      record.prompt = {unique_content(*tokens)};
      record.prompt_tokens = *tokens;
      return true;
    }
    record.known_content = true;
    const JsonValue* segments = find_list(object, "prompt", row);
    if (!segments) return false;
    for (const JsonValue& item : segments->items) {
      const auto segment = read_segment(item, row);
      if (!segment) return false;
      record.prompt.push_back(*segment);
      record.prompt_tokens += segment->tokens;
    }
    if (record.prompt_tokens >= 1 && record.prompt_tokens <= std::numeric_limits<std::int32_t>::max()) return true;
    row.error(segments->span,
              fmt::format("'prompt' has {} tokens; it must have from 1 to 2^31 - 1", record.prompt_tokens));
    return false;
  }

  static std::optional<Segment> read_segment(const JsonValue& item, const Row& row) {
    if (item.kind != JsonValue::Kind::list || item.items.size() < 2 || item.items.size() > 3) {
      row.error(item.span, "a segment of 'prompt' must be [id, tokens] or [id, tokens, offset]");
      return std::nullopt;
    }
    const auto id = row.id({"id", item.items[0].span});
    const auto tokens = row.tokens({"tokens", item.items[1].span});
    const bool has_offset = item.items.size() == 3;
    const auto offset = has_offset ? row.tokens({"offset", item.items[2].span}, 0) : 0;
    if (!id || !tokens || !offset) return std::nullopt;
    return Segment{*id, *tokens, *offset};
  }
};

}  // namespace

TraceFormat llmscape_jsonl() {
  return {
      kLlmscapeFormat, "this project's format: arrival, content segments or length, output length, conversation",
      [](std::string_view, std::string_view first_line) {
        // Of another version, the reader says so.
        return (first_line.find("\"schema\"") != first_line.npos && first_line.find("\"trace/") != first_line.npos) ||
               first_line.find("\"output_tokens\"") != first_line.npos;
      },
      &open_as<LlmscapeReader>};
}

}  // namespace llmscape::traces
