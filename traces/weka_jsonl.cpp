// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>

#include "base/hash.hpp"
#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/sorted_reader.hpp"

// Recorded conversations of coding agents as WEKA published them (github.com callanjfox/kv-cache-tester, "Trace
// format") and as the AgentX benchmark of InferenceX replays them; one conversation a line:
// {"id", "block_size", "hash_id_scope": "local" | "global", "requests": [{"t" (s since its beginning), "in", "out"
// (tokens), "hash_ids": [one for each block of the prompt]}, {"t", "type": "subagent", "agent_id", "requests": [...]}]}
// and keys that are passed over. Ids of the scope "local" mean something in their conversation alone. What the blocks
// leave of a prompt is its own. Times of a sub-agent's requests count from its beginning where they lie before it. All
// conversations begin at 0: the files do not say when they were held.
namespace llmscape::traces {
namespace {

constexpr std::string_view kWeka = "weka-jsonl";
constexpr std::int64_t kUsualBlock = 64;  // tokens, where a conversation names none

class WekaReader final : public SortedReader {
 public:
  explicit WekaReader(const std::string& path) : SortedReader(kWeka, path) {}

 private:
  struct Conversation {
    std::string id;
    std::int64_t block_tokens = kUsualBlock;
    bool local = true;
  };

  bool read(const Row& row, std::vector<TimedRecord>& records) override {
    const auto object = parse_object(row);
    if (!object || !has({"id", "requests"}, *object, row)) return false;
    const JsonValue* id = find_text(*object, "id", row);
    const JsonValue* scope = find_text(*object, "hash_id_scope", row);
    if (!id || (object->find("hash_id_scope") && !scope)) return false;
    Conversation conversation{id->text};
    if (scope && scope->text != "local" && scope->text != "global") {
      row.error(scope->span, fmt::format("'hash_id_scope' must be local or global; got {}", in_quotes(scope->text)));
      return false;
    }
    conversation.local = !scope || scope->text == "local";
    if (const JsonValue* block = object->find("block_size")) {
      const auto tokens = row.tokens({"block_size", block->span});
      if (!tokens) return false;
      conversation.block_tokens = *tokens;
    }
    return read_requests(*object, conversation, conversation.id, 0, row, records);
  }

  static bool has(std::initializer_list<std::string_view> keys, const JsonValue& object, const Row& row) {
    const auto missing = std::ranges::find_if(keys, [&](std::string_view key) { return !object.find(key); });
    if (missing == keys.end()) return true;
    row.error({object.span.position}, fmt::format("key '{}' is missing", *missing));
    return false;
  }

  // `begin`: of the sub-agent whose requests these are, ns; 0: the conversation's own.
  bool read_requests(const JsonValue& holder, const Conversation& conversation, const std::string& session,
                     std::int64_t begin, const Row& row, std::vector<TimedRecord>& records) {
    const JsonValue* requests = find_list(holder, "requests", row);
    if (!requests) return false;
    const std::size_t first = records.size();
    for (const JsonValue& request : requests->items) {
      if (!has({"t"}, request, row)) return false;
      const auto time = row.nanoseconds({"t", request.find("t")->span}, kNanosecondsPerSecond);
      if (!time) return false;
      const JsonValue* type = request.find("type");
      const bool good =
          type && type->text == "subagent"
              ? !request.find("requests") ||
                    read_requests(request, conversation, session + "/" + agent_of(request), *time, row, records)
              : read_call(request, *time, conversation, session, row, records);
      if (!good) return false;
    }
    // Nothing of a sub-agent comes before it begins, so earlier times count from there.
    const auto own = std::span(records).subspan(first);
    if (std::ranges::any_of(own, [&](const TimedRecord& record) { return record.nanoseconds < begin; }))
      for (TimedRecord& record : own) record.nanoseconds += begin;
    return true;
  }

  static std::string agent_of(const JsonValue& request) {
    const JsonValue* agent = request.find("agent_id");
    return agent ? agent->text : "";
  }

  bool read_call(const JsonValue& request, std::int64_t time, const Conversation& conversation,
                 const std::string& session, const Row& row, std::vector<TimedRecord>& records) {
    if (!has({"in", "out", "hash_ids"}, request, row)) return false;
    const auto prompt = row.tokens({"in", request.find("in")->span});
    const auto output = row.tokens({"out", request.find("out")->span});
    const JsonValue* ids = find_list(request, "hash_ids", row);
    if (!prompt || !output || !ids) return false;
    TraceRecord record;
    std::int64_t left = *prompt;
    for (const JsonValue& item : ids->items) {
      const auto id = row.id({"hash_ids", item.span});
      if (!id) return false;
      if (left == 0) {
        row.error(ids->span, fmt::format("{} ids for {} tokens in blocks of {}", ids->items.size(), *prompt,
                                         conversation.block_tokens));
        return false;
      }
      const std::int64_t tokens = std::min(left, conversation.block_tokens);
      record.prompt.push_back(
          {conversation.local ? hash64(std::to_string(*id), hash64(conversation.id)) : *id, tokens});
      left -= tokens;
    }
    if (left > 0) record.prompt.push_back(unique_content(left));
    record.prompt_tokens = *prompt;
    record.output_tokens = *output;
    record.session = session;
    record.known_content = true;
    records.push_back({std::move(record), time, request.find("t")->span});
    return true;
  }
};

}  // namespace

TraceFormat weka_jsonl() {
  return {kWeka, "WEKA's and AgentX's conversations of coding agents: lengths, ids of blocks, sub-agents",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("\"requests\"") != first_line.npos && first_line.find("\"in\"") != first_line.npos;
          },
          &open_as<WekaReader>};
}

}  // namespace llmscape::traces
