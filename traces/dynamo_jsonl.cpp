// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/sorted_reader.hpp"

// NVIDIA Dynamo (github.com ai-dynamo/dynamo). Two kinds of rows:
// - of its load traces, which are Mooncake's with conversations: {"session_id", "timestamp" (ms) or "delay" (ms),
//   "input_length", "output_length", "hash_ids"}. The first turn of a conversation has a timestamp. `delay` counts from
//   the answer before, whose time no trace knows; it is taken from the arrival before, which is the earliest it can be.
//   The tokens of a block are not in the file: it is the smallest power of two, from 16, by which the ids of a prompt
//   are no fewer and no more than it needs, in every row.
// - of the records of its frontend, where traces of agents are switched on (docs/agents, schema dynamo.agent.trace.v1):
//   {"event": {"event_type": "request_end", "agent_context": {"session_id" or "trajectory_id" or "program_id"},
//   "request": {"request_received_ms", "input_tokens", "output_tokens", "replay": {"trace_block_size",
//   "input_sequence_hashes"}}}}. Other events and keys are passed over. Without `replay` prompts have no known content.
namespace llmscape::traces {
namespace {

constexpr std::string_view kDynamo = "dynamo-jsonl";
constexpr std::size_t kDeepestEvent = 12;  // records of the frontend carry workers and timings along
const JsonKeys kLoadKeys = {{"input_length", "output_length", "hash_ids"}, {"session_id", "timestamp", "delay"}};
constexpr std::array<std::int64_t, 9> kBlocks = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};  // tokens

// The segments of a prompt of `tokens`, whose blocks are already named, of `block` tokens each but the last.
void set_lengths(Prompt& prompt, std::int64_t tokens, std::int64_t block) {
  for (Segment& segment : prompt) {
    segment.tokens = std::min(tokens, block);
    tokens -= segment.tokens;
  }
}

bool are_blocks_of(std::size_t ids, std::int64_t tokens, std::int64_t block) {
  return static_cast<std::int64_t>(ids) == (tokens + block - 1) / block;
}

class DynamoReader final : public SortedReader {
 public:
  explicit DynamoReader(const std::string& path) : SortedReader(kDynamo, path) {}

 private:
  bool read(const Row& row, std::vector<TimedRecord>& records) override {
    const auto object = parse_object(row, kDeepestEvent);
    if (!object) return false;
    const JsonValue* event = object->find("event");
    if (event || object->find("event_type")) return read_event(event ? *event : *object, row, records);
    return read_load(*object, row, records);
  }

  bool read_load(const JsonValue& object, const Row& row, std::vector<TimedRecord>& records) {
    if (!check_keys(object, kLoadKeys, row)) return false;
    const auto tokens = row.tokens({"input_length", object.find("input_length")->span});
    const auto output = row.tokens({"output_length", object.find("output_length")->span});
    const JsonValue* ids = find_list(object, "hash_ids", row);
    const JsonValue* session = find_text(object, "session_id", row);
    if (!tokens || !output || !ids || (object.find("session_id") && !session)) return false;
    TraceRecord record;
    record.prompt_tokens = *tokens;
    record.output_tokens = *output;
    record.known_content = true;
    if (session) record.session = session->text;
    const auto timed = time_of(object, record.session, row);
    if (!timed || !read_ids(*ids, row, record.prompt) || !narrow_blocks(*ids, *tokens, row)) return false;
    records.push_back({std::move(record), timed->first, timed->second});
    return true;
  }

  // When the call arrives, and where that stands.
  std::optional<std::pair<std::int64_t, Span>> time_of(const JsonValue& object, const std::string& session,
                                                       const Row& row) {
    const JsonValue* stamp = object.find("timestamp");
    const JsonValue* delay = object.find("delay");
    const JsonValue* given = stamp ? stamp : delay;
    if (!given) {
      row.error({object.span.position}, "a key is missing, 'timestamp' or 'delay'");
      return std::nullopt;
    }
    auto time = row.nanoseconds({stamp ? "timestamp" : "delay", given->span}, kNanosecondsPerMs);
    if (!time) return std::nullopt;
    if (!stamp) {
      const auto before = session.empty() ? last_turn_.end() : last_turn_.find(session);
      if (before == last_turn_.end()) {
        row.error(given->span, "a 'delay' needs a turn of the same conversation before it");
        return std::nullopt;
      }
      *time += before->second;
    }
    if (!session.empty()) last_turn_[session] = *time;
    return std::pair(*time, given->span);
  }

  // Ids as contents without their lengths, which complete() sets.
  static bool read_ids(const JsonValue& ids, const Row& row, Prompt& prompt) {
    for (const JsonValue& item : ids.items) {
      const auto id = row.id({"hash_ids", item.span});
      if (!id) return false;
      prompt.push_back({*id, 0});
    }
    return true;
  }

  // Strikes out the blocks by which the prompt would have another number of ids.
  bool narrow_blocks(const JsonValue& ids, std::int64_t tokens, const Row& row) {
    std::erase_if(blocks_, [&](std::int64_t block) { return !are_blocks_of(ids.items.size(), tokens, block); });
    if (!blocks_.empty()) return true;
    row.error(ids.span, fmt::format("{} ids for {} tokens; no block from {} to {} tokens makes so many here and in the "
                                    "rows before",
                                    ids.items.size(), tokens, kBlocks.front(), kBlocks.back()));
    return false;
  }

  void complete(TraceRecord& record) const override {
    if (blocks_.empty()) return;
    if (record.prompt.front().tokens == 0) set_lengths(record.prompt, record.prompt_tokens, blocks_.front());
  }

  bool read_event(const JsonValue& event, const Row& row, std::vector<TimedRecord>& records) {
    const JsonValue* type = event.find("event_type");
    if (!type || type->text != "request_end") return true;
    const JsonValue* request = find(event, "request", row);
    const JsonValue* received = request ? find(*request, "request_received_ms", row) : nullptr;
    const JsonValue* input = request ? find(*request, "input_tokens", row) : nullptr;
    const JsonValue* answer = request ? find(*request, "output_tokens", row) : nullptr;
    if (!received || !input || !answer) return false;
    const auto time = row.nanoseconds({"request_received_ms", received->span}, kNanosecondsPerMs);
    const auto tokens = row.tokens({"input_tokens", input->span});
    const auto output = row.tokens({"output_tokens", answer->span});
    if (!time || !tokens || !output) return false;
    TraceRecord record;
    record.prompt_tokens = *tokens;
    record.output_tokens = *output;
    if (const JsonValue* context = event.find("agent_context"))
      for (const std::string_view key : {"session_id", "trajectory_id", "program_id"})
        if (const JsonValue* id = context->find(key); id && record.session.empty()) record.session = id->text;
    if (const JsonValue* replay = request->find("replay")) {
      if (!read_replay(*replay, row, record)) return false;
    } else {
      record.prompt = {unique_content(*tokens)};
    }
    records.push_back({std::move(record), *time, received->span});
    return true;
  }

  static bool read_replay(const JsonValue& replay, const Row& row, TraceRecord& record) {
    const JsonValue* size = find(replay, "trace_block_size", row);
    const JsonValue* ids = find(replay, "input_sequence_hashes", row);
    if (!size || !ids || !find_list(replay, "input_sequence_hashes", row)) return false;
    const auto block = row.tokens({"trace_block_size", size->span});
    if (!block || !read_ids(*ids, row, record.prompt)) return false;
    if (!are_blocks_of(ids->items.size(), record.prompt_tokens, *block)) {
      row.error(ids->span,
                fmt::format("{} ids for {} tokens in blocks of {}", ids->items.size(), record.prompt_tokens, *block));
      return false;
    }
    set_lengths(record.prompt, record.prompt_tokens, *block);
    record.known_content = true;
    return true;
  }

  // The value under `key`, or nullptr after reporting that it is missing.
  static const JsonValue* find(const JsonValue& object, std::string_view key, const Row& row) {
    const JsonValue* value = object.find(key);
    if (!value) row.error({object.span.position}, fmt::format("key '{}' is missing", key));
    return value;
  }

  std::vector<std::int64_t> blocks_{kBlocks.begin(), kBlocks.end()};  // that fit every row so far
  std::unordered_map<std::string, std::int64_t> last_turn_;           // ns, of each conversation
};

}  // namespace

TraceFormat dynamo_jsonl() {
  return {kDynamo, "NVIDIA Dynamo: load traces with conversations, and records of its frontend",
          [](std::string_view, std::string_view first_line) {
            const auto has = [&](std::string_view text) { return first_line.find(text) != first_line.npos; };
            return has("\"event_type\"") || (has("\"session_id\"") && has("\"hash_ids\"") && !has("\"passages_ids\""));
          },
          &open_as<DynamoReader>};
}

}  // namespace llmscape::traces
