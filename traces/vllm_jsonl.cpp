// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "traces/formats.hpp"
#include "traces/json_row.hpp"
#include "traces/row_reader.hpp"

// Workloads of vLLM runs. Each row names its prompt length as one of input_toks, input_len, prompt_len; its output
// length as one of output_toks, output_len; its arrival as one of arrival_time_ns, arrival_s, arrival (s). That covers
// the workloads of LLMServingSim (input_toks, output_toks, arrival_time_ns, and the token ids input_tok_ids,
// output_tok_ids) and ShareGPT conversations reduced to lengths. Token ids give content in blocks of 16, vLLM's default
// block size: a block is named by the hash of all tokens up to its end, so two prompts share their common prefix in
// whole blocks.
namespace llmscape::traces {
namespace {

constexpr std::string_view kVllm = "vllm-jsonl";
constexpr std::size_t kBlockTokens = 16;

struct Alias {
  std::string_view key;
  std::int64_t nanoseconds = 0;  // of one unit, for times
};
constexpr Alias kInput[] = {{"input_toks"}, {"input_len"}, {"prompt_len"}};
constexpr Alias kOutput[] = {{"output_toks"}, {"output_len"}};
constexpr Alias kArrival[] = {{"arrival_time_ns", 1}, {"arrival_s", 1'000'000'000}, {"arrival", 1'000'000'000}};

JsonKeys known_keys() {
  JsonKeys keys{{}, {"input_tok_ids", "output_tok_ids"}};
  for (const auto aliases :
       {std::span<const Alias>(kInput), std::span<const Alias>(kOutput), std::span<const Alias>(kArrival)})
    for (const Alias& alias : aliases) keys.optional.emplace_back(alias.key);
  return keys;
}

// The alias that the object uses, or nullptr after reporting that it uses none or several.
const Alias* find_alias(const JsonValue& object, std::span<const Alias> aliases, const Row& row) {
  const Alias* found = nullptr;
  std::vector<std::string_view> names;
  for (const Alias& alias : aliases) {
    names.push_back(alias.key);
    const JsonValue* value = object.find(alias.key);
    if (value && found) {
      row.error(value->span, fmt::format("'{}' says again what '{}' says", alias.key, found->key));
      return nullptr;
    }
    if (value) found = &alias;
  }
  if (!found) row.error({object.span.position}, fmt::format("a key is missing, one of {}", fmt::join(names, ", ")));
  return found;
}

// The token ids under `key`, `expected` of them, or nothing after reporting.
std::optional<std::vector<std::uint64_t>> read_ids(const JsonValue& object, std::string_view key, std::int64_t expected,
                                                   const Row& row) {
  const JsonValue* list = find_list(object, key, row);
  if (!list) return std::nullopt;
  std::vector<std::uint64_t> ids;
  ids.reserve(list->items.size());
  for (const JsonValue& item : list->items) {
    const auto id = row.id({key, item.span});
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  if (static_cast<std::int64_t>(ids.size()) == expected) return ids;
  row.error(list->span, fmt::format("'{}' has {} ids for {} tokens", key, ids.size(), expected));
  return std::nullopt;
}

Prompt blocks_of(std::span<const std::uint64_t> ids) {
  Prompt prompt;
  std::uint64_t chain = 0;
  for (std::size_t begin = 0; begin < ids.size(); begin += kBlockTokens) {
    const auto block = ids.subspan(begin, std::min(kBlockTokens, ids.size() - begin));
    chain = hash64({reinterpret_cast<const char*>(block.data()), block.size_bytes()}, chain);
    prompt.push_back({chain, static_cast<std::int64_t>(block.size())});
  }
  return prompt;
}

class VllmReader final : public RowReader {
 public:
  explicit VllmReader(const std::string& path) : RowReader(kVllm, path) {}

 private:
  std::optional<TimedRecord> read(const Row& row) override {
    const auto object = parse_object(row);
    if (!object || !check_keys(*object, keys_, row)) return std::nullopt;
    const Alias* input = find_alias(*object, kInput, row);
    const Alias* output = find_alias(*object, kOutput, row);
    const Alias* arrival = find_alias(*object, kArrival, row);
    if (!input || !output || !arrival) return std::nullopt;
    const JsonValue& stamp = *object->find(arrival->key);
    const auto time = row.nanoseconds({arrival->key, stamp.span}, arrival->nanoseconds);
    const auto prompt_tokens = row.tokens({input->key, object->find(input->key)->span});
    const auto output_tokens = row.tokens({output->key, object->find(output->key)->span});
    if (!time || !prompt_tokens || !output_tokens) return std::nullopt;

    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = stamp.span;
    timed.record.prompt_tokens = *prompt_tokens;
    timed.record.output_tokens = *output_tokens;
    if (object->find("output_tok_ids") && !read_ids(*object, "output_tok_ids", *output_tokens, row))
      return std::nullopt;
    if (object->find("input_tok_ids")) {
      const auto ids = read_ids(*object, "input_tok_ids", *prompt_tokens, row);
      if (!ids) return std::nullopt;
      timed.record.prompt = blocks_of(*ids);
      timed.record.known_content = true;
    } else {
      timed.record.prompt = {unique_content(*prompt_tokens)};
    }
    return timed;
  }

  const JsonKeys keys_ = known_keys();
};

}  // namespace

TraceFormat vllm_jsonl() {
  return {kVllm, "workloads of vLLM runs and ShareGPT with lengths: arrival, lengths, token ids if recorded",
          [](std::string_view, std::string_view first_line) {
            return std::ranges::any_of(kInput, [&](const Alias& a) {
              return first_line.find(fmt::format("\"{}\"", a.key)) != first_line.npos;
            });
          },
          &open_as<VllmReader>};
}

}  // namespace llmscape::traces
