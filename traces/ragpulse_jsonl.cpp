// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <unordered_map>

#include "base/opened_files.hpp"
#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/row_reader.hpp"

// RAGPulse traces (github.com flashserve/RAGPulse, data/0_trace.jsonl): {"timestamp": "82" (s), "input_length",
// "output_length", "hash_ids": {"sys_prompt": [ids], ...}, "session_id"}. Five tables beside the file tell how many
// tokens a component has. The order of the components in the prompt is not published; here it is system prompt,
// passages, history, web search, user input, then what input_length leaves for the template, which is unique to each
// request.
namespace llmscape::traces {
namespace {

constexpr std::string_view kRagpulse = "ragpulse-jsonl";
const JsonKeys kRagpulseKeys = {{"timestamp", "input_length", "output_length", "hash_ids", "session_id"}, {}};

struct ComponentKind {
  std::string key;     // in hash_ids
  std::string table;   // file name, without .gz or .zst
  std::string id_key;  // in the table
};
const std::array<ComponentKind, 5> kKinds = {{
    {"sys_prompt", "sys_prompt.jsonl", "sys_prompt_id"},
    {"passages_ids", "passages.jsonl", "passage_id"},
    {"history", "history.jsonl", "history_id"},
    {"web_search", "web_search.jsonl", "web_search_id"},
    {"user_input", "user_input.jsonl", "user_input_id"},
}};

// The lengths of all components. Ids are unique over the five tables.
class ComponentTables {
 public:
  // Reads the tables in the folder of `trace`; reports those that are missing or broken.
  ComponentTables(const std::string& trace, Diagnostics& diagnostics) {
    const std::filesystem::path folder = std::filesystem::path(trace).parent_path();
    for (const ComponentKind& kind : kKinds) {
      if (const auto path = find(folder, kind.table)) {
        read(kind, *path, diagnostics);
      } else {
        Row({}, trace, 0, diagnostics)
            .error({}, fmt::format("component table '{}' (or .gz, .zst) is missing beside the trace",
                                   (folder / kind.table).string()));
      }
    }
  }

  [[nodiscard]] std::optional<std::int64_t> tokens(const ComponentKind& kind, std::uint64_t id) const {
    const auto found = components_.find(id);
    if (found == components_.end() || found->second.kind != &kind) return std::nullopt;
    return found->second.tokens;
  }

 private:
  struct Component {
    const ComponentKind* kind;
    std::int64_t tokens;
  };

  static std::optional<std::string> find(const std::filesystem::path& folder, const std::string& table) {
    for (const char* suffix : {"", ".gz", ".zst"})
      if (const auto path = folder / (table + suffix); stands_there(path)) return path.string();
    return std::nullopt;
  }

  void read(const ComponentKind& kind, const std::string& path, Diagnostics& diagnostics) {
    const JsonKeys keys = {{kind.id_key, "token_length"}, {}};
    RowFile rows(path);
    while (const auto row = rows.next(diagnostics)) {
      const auto object = parse_object(*row);
      if (!object || !check_keys(*object, keys, *row)) return;
      const Cell id_cell = {kind.id_key, object->find(kind.id_key)->span};
      const auto id = row->id(id_cell);
      const auto tokens = row->tokens({"token_length", object->find("token_length")->span});
      if (!id || !tokens) return;
      if (!components_.emplace(*id, Component{&kind, *tokens}).second)
        return row->error(id_cell.span, fmt::format("component {} has a length already", *id));
    }
  }

  std::unordered_map<std::uint64_t, Component> components_;
};

class RagpulseReader final : public RowReader {
 public:
  RagpulseReader(const std::string& path, ComponentTables tables)
      : RowReader(kRagpulse, path), tables_(std::move(tables)) {}

 private:
  std::optional<TimedRecord> read(const Row& row) override {
    const auto object = parse_object(row);
    if (!object || !check_keys(*object, kRagpulseKeys, row)) return std::nullopt;
    const JsonValue* stamp = find_text(*object, "timestamp", row);
    const JsonValue* session = find_text(*object, "session_id", row);
    const JsonValue& length = *object->find("input_length");
    const auto tokens = row.tokens({"input_length", length.span});
    const auto output = row.tokens({"output_length", object->find("output_length")->span});
    if (!stamp || !session || !tokens || !output) return std::nullopt;
    const Span digits = {stamp->span.position + 1, stamp->span.length - 2};
    const auto time = row.nanoseconds({"timestamp", digits}, kNanosecondsPerSecond);
    auto prompt = read_components(*object->find("hash_ids"), row);
    if (!time || !prompt) return std::nullopt;

    const std::int64_t rest = *tokens - tokens_of(*prompt);
    if (rest < 0) {
      row.error(length.span,
                fmt::format("'input_length' is {} tokens but its components have {}", *tokens, *tokens - rest));
      return std::nullopt;
    }
    if (rest > 0) prompt->push_back(unique_content(rest));
    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = digits;
    timed.record.prompt = std::move(*prompt);
    timed.record.prompt_tokens = *tokens;
    timed.record.output_tokens = *output;
    timed.record.session = session->text;
    timed.record.known_content = true;
    return timed;
  }

  std::optional<Prompt> read_components(const JsonValue& components, const Row& row) const {
    JsonKeys keys;
    for (const ComponentKind& kind : kKinds) keys.required.push_back(kind.key);
    if (!check_keys(components, keys, row)) return std::nullopt;
    Prompt prompt;
    for (const ComponentKind& kind : kKinds) {
      const JsonValue* ids = find_list(components, kind.key, row);
      if (!ids) return std::nullopt;
      for (const JsonValue& item : ids->items) {
        const auto id = row.id({kind.key, item.span});
        if (!id) return std::nullopt;
        const auto tokens = tables_.tokens(kind, *id);
        if (!tokens) {
          row.error(item.span, fmt::format("component {} is not in table '{}'", *id, kind.table));
          return std::nullopt;
        }
        prompt.push_back({*id, *tokens});
      }
    }
    return prompt;
  }

  ComponentTables tables_;
};

}  // namespace

TraceFormat ragpulse_jsonl() {
  return {kRagpulse, "RAGPulse traces: arrival, lengths, component ids of retrieval-augmented prompts, conversation",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("\"passages_ids\"") != first_line.npos;
          },
          [](const std::string& path, Diagnostics& diagnostics) -> std::unique_ptr<TraceReader> {
            const int errors_before = diagnostics.errors();
            ComponentTables tables(path, diagnostics);
            if (diagnostics.errors() != errors_before) return nullptr;
            return std::make_unique<RagpulseReader>(path, std::move(tables));
          }};
}

}  // namespace llmscape::traces
