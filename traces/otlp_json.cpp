// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/sorted_reader.hpp"
#include "traces/span_tree.hpp"

// OpenTelemetry spans of model calls, as the Collector's file exporter and OTLP/HTTP write them: one export request a
// line, {"resourceSpans": [{"scopeSpans": [{"spans": [...]}]}]} (opentelemetry-proto, trace.proto, in proto3's JSON;
// 64-bit numbers may be texts; unknown keys are to be passed over). A span is a call if it has both token counts of the
// semantic conventions for generative AI, gen_ai.usage.input_tokens and gen_ai.usage.output_tokens, or under the names
// they had before, prompt_tokens and completion_tokens (vLLM's spans). Spans of agents and workflows, which add up
// those of their calls, of tools and of embeddings are passed over by gen_ai.operation.name. A call belongs to its
// gen_ai.conversation.id, else to its trace. Where a client and the server both have a span of a call, the one in the
// other, the inner one counts (SpanTree). A span that was exported again is one: its ids name it. A call whose status
// is an error failed, and is told, not served. Text is not read, so prompts have no content that could be shared.
namespace llmscape::traces {
namespace {

constexpr std::string_view kOtlpJson = "otlp-json";
constexpr std::size_t kDeepestSpan = 24;  // spans lie 7 deep, attributes may be lists of maps of lists
constexpr std::array<std::string_view, 2> kInputKeys = {"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"};
constexpr std::array<std::string_view, 2> kOutputKeys = {"gen_ai.usage.output_tokens",
                                                         "gen_ai.usage.completion_tokens"};
constexpr std::array<std::string_view, 4> kCalls = {"chat", "text_completion", "generate_content", "llm_request"};

// What `value` stands for: a number, or a text, which is what 64-bit numbers are in proto3's JSON.
Span digits_of(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::text) return value.span;
  return {value.span.position + 1, value.span.length - 2};
}

// The value of the first attribute with one of `keys`; nullptr if there is none.
const JsonValue* find_attribute(const JsonValue& span, std::span<const std::string_view> keys) {
  const JsonValue* attributes = span.find("attributes");
  if (!attributes) return nullptr;
  for (const JsonValue& attribute : attributes->items) {
    const JsonValue* key = attribute.find("key");
    const JsonValue* value = attribute.find("value");
    if (key && value && value->members.size() == 1 && std::ranges::find(keys, key->text) != keys.end())
      return &value->members.front().value;  // {"intValue": "100"}
  }
  return nullptr;
}

const JsonValue* find_attribute(const JsonValue& span, std::string_view key) {
  return find_attribute(span, std::span(&key, 1));
}

class OtlpReader final : public SortedReader {
 public:
  explicit OtlpReader(const std::string& path) : SortedReader(kOtlpJson, path) {}

 private:
  bool read(const Row& row, std::vector<TimedRecord>& records) override {
    const auto request = parse_object(row, kDeepestSpan);
    if (!request || !check_required(*request, row)) return false;
    const JsonValue* resources = find_list(*request, "resourceSpans", row);
    if (!resources) return false;
    for (const JsonValue& resource : resources->items) {
      const JsonValue* scopes = resource.find("scopeSpans") ? find_list(resource, "scopeSpans", row) : &kNone;
      if (!scopes) return false;
      for (const JsonValue& scope : scopes->items) {
        const JsonValue* spans = scope.find("spans") ? find_list(scope, "spans", row) : &kNone;
        if (!spans) return false;
        for (const JsonValue& span : spans->items)
          if (!read_span(span, row, records)) return false;
      }
    }
    return true;
  }

  static bool check_required(const JsonValue& request, const Row& row) {
    if (request.find("resourceSpans")) return true;
    row.error({request.span.position}, "key 'resourceSpans' is missing");
    return false;
  }

  static std::string_view text_of(const JsonValue* value) {
    return value && value->kind == JsonValue::Kind::text ? std::string_view(value->text) : std::string_view();
  }

  // Status codes are numbers in proto3's JSON, or the names of the enumeration.
  static bool has_failed(const JsonValue& span, const Row& row) {
    const JsonValue* status = span.find("status");
    const JsonValue* code = status ? status->find("code") : nullptr;
    if (!code) return false;
    const std::string_view value = row.text(digits_of(*code));
    return code->kind != JsonValue::Kind::null && (value == "2" || value == "STATUS_CODE_ERROR");
  }

  void place(const JsonValue& span, SpanTree::Kind kind, ContentId content, std::string_view conversation) {
    tree_.add(text_of(span.find("traceId")), text_of(span.find("spanId")), text_of(span.find("parentSpanId")), kind,
              content, conversation);
  }

  bool read_span(const JsonValue& span, const Row& row, std::vector<TimedRecord>& records) {
    const JsonValue* input = find_attribute(span, kInputKeys);
    const JsonValue* output = find_attribute(span, kOutputKeys);
    const JsonValue* operation = find_attribute(span, "gen_ai.operation.name");
    const bool other = operation && std::ranges::find(kCalls, operation->text) == kCalls.end();
    if (!other && (input || output || operation) && has_failed(span, row)) {  // its counts may be none, or 0
      place(span, SpanTree::Kind::failed, unique_content(1).id, {});
      return true;
    }
    if (!input || !output || other) {
      place(span, other ? SpanTree::Kind::other : SpanTree::Kind::between, 0, {});
      return true;
    }
    const JsonValue* start = span.find("startTimeUnixNano");
    if (!start) {
      row.error({span.span.position}, "key 'startTimeUnixNano' is missing");
      return false;
    }
    const auto time = row.nanoseconds({"startTimeUnixNano", digits_of(*start)}, 1);
    const auto prompt = row.tokens({kInputKeys[0], digits_of(*input)});
    const auto answer = row.tokens({kOutputKeys[0], digits_of(*output)});
    if (!time || !prompt || !answer) return false;
    TraceRecord record;
    record.prompt = {unique_content(*prompt)};
    record.prompt_tokens = *prompt;
    record.output_tokens = *answer;
    const JsonValue* conversation = find_attribute(span, "gen_ai.conversation.id");
    place(span, SpanTree::Kind::call, record.prompt[0].id, text_of(conversation));
    if (conversation) {
      record.session = conversation->text;
    } else if (const JsonValue* trace = span.find("traceId")) {
      record.session = trace->text;
    }
    records.push_back({std::move(record), *time, digits_of(*start)});
    return true;
  }

  void end_of_rows(Diagnostics& diagnostics) override {
    tree_.close();
    if (tree_.failed() > 0)
      diagnostics.warning({std::make_shared<const SourceText>(SourceText{path(), ""})},
                          fmt::format("{} of {} calls failed (status ERROR) and are not in the trace", tree_.failed(),
                                      tree_.failed() + tree_.calls()));
  }
  [[nodiscard]] bool counts(const TraceRecord& record) const override { return tree_.counts(record.prompt[0].id); }
  void complete(TraceRecord& record) const override {
    if (const std::string* around = tree_.conversation_around(record.prompt[0].id)) record.session = *around;
  }

  SpanTree tree_;
  static inline const JsonValue kNone{};  // a list that is left out is empty
};

}  // namespace

TraceFormat otlp_json() {
  return {kOtlpJson, "OpenTelemetry spans of model calls (OTLP JSON): arrival, lengths, conversation",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("\"resourceSpans\"") != first_line.npos;
          },
          &open_as<OtlpReader>};
}

}  // namespace llmscape::traces
