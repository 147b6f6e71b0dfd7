// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

const std::string kAzure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n";
const std::string kMooncake = R"({"timestamp": 9, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]})"
                              "\n";
const std::string kVllm = R"({"input_toks": 2, "output_toks": 5, "arrival_time_ns": 9, "input_tok_ids": [1, 2]})"
                          "\n";
const std::string kOwn = R"({"arrival_s": 9, "prompt": [[1, 2]], "output_tokens": 5})"
                         "\n";

const std::string kAgent = "session_id,t_s,ctx_tokens_est,out_tokens_est\na,0,10,5\n";
const std::string kDynamo =
    R"({"session_id": "a", "timestamp": 0, "input_length": 300, "output_length": 5, "hash_ids": [1]})"
    "\n";

std::string spans(const std::string& spans) {
  return R"({"resourceSpans": [{"scopeSpans": [{"spans": [)" + spans + "]}]}]}\n";
}
std::string usage(const std::string& input, const std::string& output) {
  return R"({"key": "gen_ai.usage.input_tokens", "value": {"intValue": ")" + input +
         R"("}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": ")" + output + R"("}})";
}

std::string rag_row(const std::string& timestamp, const std::string& length, const std::string& user_input) {
  return R"({"timestamp": )" + timestamp + R"(, "input_length": )" + length +
         R"(, "output_length": 5, "hash_ids": {"sys_prompt": [1], "passages_ids": [], "history": [], "web_search": [], )"
         R"("user_input": )" +
         user_input + R"(}, "session_id": "x"})" + "\n";
}

// {"k10": 0, "k11": 0, ...}: ten characters a key, the first behind the brace.
std::string many_keys(int count) {
  std::string row = "{";
  for (int i = 0; i < count; ++i) row += fmt::format("\"k{}\": 0{}", 10 + i, i + 1 < count ? ", " : "}");
  return row;
}

// A trace whose rows are good up to the one that is broken.
struct BrokenTrace {
  std::string format, content;
  int line, column;
  std::string fragment;  // of the message
  std::string suggestion = "";
};

std::vector<BrokenTrace> broken_traces() {
  return {
      // Azure: header
      {"azure-csv", "TIMESTAMP,ContextTokens,GeneratedTokens,ContextToken\n", 1, 41, "unknown column 'ContextToken'",
       "did you mean 'ContextTokens'?"},
      {"azure-csv", "TIMESTAMP,ContextTokens\n", 1, 1, "column 'GeneratedTokens' is missing"},
      {"azure-csv", "TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n", 1, 41,
       "column 'ContextTokens' stands twice"},
      {"azure-csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", 0, 1, "the trace has no records"},
      // Azure: rows
      {"azure-csv", kAzure + "2023-11-16 18:17:04,110\n", 3, 1, "2 columns where the header has 3"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,110,\"27\n", 3, 25,
       "the quote of this cell does not end in its line"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,110,27,\n", 3, 1, "4 columns where the header has 3"},
      {"azure-csv", kAzure + "2023-11-31 18:17:04,110,27\n", 3, 1, "'TIMESTAMP' must look like"},
      {"azure-csv", kAzure + "2023-11-16 18:17:61,110,27\n", 3, 1, "'TIMESTAMP' must look like"},
      {"azure-csv", kAzure + "2023-11-16_18:17:04,110,27\n", 3, 1, "'TIMESTAMP' must look like"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04+24:00,110,27\n", 3, 1, "'TIMESTAMP' must look like"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04.1234567890,110,27\n", 3, 1, "'TIMESTAMP' must look like"},
      {"azure-csv", kAzure + "2023-11-16 18:17:03.9799599,110,27\n", 3, 1, "time runs backwards"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,-110,27\n", 3, 21,
       "'ContextTokens' must be a whole number of tokens"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,110,0\n", 3, 25, "from 1 to 2147483647; got '0'"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,nan,27\n", 3, 21, "got 'nan'"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,,27\n", 3, 21, "'ContextTokens' must be a whole number of tokens"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04, 110,27\n", 3, 21, "got ' 110'"},
      {"azure-csv", kAzure + "2023-11-16 18:17:04,2147483648,27\n", 3, 21, "got '2147483648'"},
      // Mooncake: JSON
      {"mooncake-jsonl", kMooncake + "\n{\"timestamp\": 10, \"input_length\" 600}\n", 3, 34, "not JSON"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": 10", 2, 17, "not JSON: it ends too early"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": NaN}\n", 2, 15, "not JSON"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": tru}\n", 2, 15, "not JSON from here on"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": 10} 11\n", 2, 19, "not JSON"},
      {"mooncake-jsonl", kMooncake + "[1, 2]\n", 2, 1, "a row must be a JSON object"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": 10, \"timestamp\": 11}\n", 2, 19, "key 'timestamp' stands twice"},
      {"mooncake-jsonl", kMooncake + "{\"timestamp\": " + std::string(100'000, '['), 2, 22,
       "nested deeper than 8 levels"},
      {"mooncake-jsonl", kMooncake + many_keys(65), 2, 642, "more than 64 keys"},
      // Mooncake: values
      {"mooncake-jsonl",
       kMooncake +
           R"({"timestamp": 10, "input_length": 600, "outptu_length": 5, "output_length": 5, "hash_ids": [1, 2]})",
       2, 40, "unknown key 'outptu_length'", "did you mean 'output_length'?"},
      {"mooncake-jsonl", kMooncake + R"({"timestamp": 10, "input_length": 600, "hash_ids": [1, 2]})", 2, 1,
       "key 'output_length' is missing"},
      {"mooncake-jsonl", kMooncake + R"({"timestamp": 10, "input_length": 600, "output_length": 5, "hash_ids": [1]})",
       2, 72, "1 ids for 600 tokens; blocks of 512 tokens make 2"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": 10, "input_length": 600, "output_length": 5, "hash_ids": [1, -2]})", 2, 76,
       "'hash_ids' must hold whole numbers from 0"},
      {"mooncake-jsonl", kMooncake + R"({"timestamp": 10, "input_length": 600, "output_length": 5, "hash_ids": "12"})",
       2, 72, "'hash_ids' must be a list"},
      {"mooncake-jsonl", kMooncake + R"({"timestamp": 8, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]})",
       2, 15, "time runs backwards: 0.001 s before"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": -1, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]})", 2, 15,
       "'timestamp' must be a time of at least 0"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": 1e300, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]})", 2, 15,
       "'timestamp' must be a time of at least 0"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": 10, "input_length": 9223372036854775808, "output_length": 5, "hash_ids": [1]})", 2,
       35, "got '9223372036854775808'"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": 10, "input_length": 6e2, "output_length": 5, "hash_ids": [1, 2]})", 2, 35,
       "got '6e2'"},
      {"mooncake-jsonl",
       kMooncake + R"({"timestamp": 10, "input_length": null, "output_length": 5, "hash_ids": [1, 2]})", 2, 35,
       "got 'null'"},
      // RAGPulse
      {"ragpulse-jsonl", rag_row("\"9\"", "20", "[2]") + rag_row("10", "20", "[2]"), 2, 15,
       "'timestamp' must be a text"},
      {"ragpulse-jsonl", rag_row("\"9\"", "20", "[2]") + rag_row("\"noon\"", "20", "[2]"), 2, 16,
       "'timestamp' must be a time"},
      {"ragpulse-jsonl", rag_row("\"9\"", "9", "[2]"), 1, 36, "'input_length' is 9 tokens but its components have 12"},
      {"ragpulse-jsonl", rag_row("\"9\"", "20", "[3]"), 1, 160, "component 3 is not in table 'user_input.jsonl'"},
      {"ragpulse-jsonl", rag_row("\"9\"", "20", "[1]"), 1, 160, "component 1 is not in table 'user_input.jsonl'"},
      // vLLM
      {"vllm-jsonl", kVllm + R"({"input_toks": 2, "input_len": 2, "output_toks": 5, "arrival_time_ns": 10})", 2, 32,
       "'input_len' says again what 'input_toks' says"},
      {"vllm-jsonl", kVllm + R"({"input_toks": 2, "output_toks": 5})", 2, 1,
       "a key is missing, one of arrival_time_ns, arrival_s, arrival"},
      {"vllm-jsonl", kVllm + R"({"input_toks": 3, "output_toks": 5, "arrival_time_ns": 10, "input_tok_ids": [1, 2]})",
       2, 77, "'input_tok_ids' has 2 ids for 3 tokens"},
      {"vllm-jsonl", kVllm + R"({"input_toks": 2, "output_toks": 5, "arrival_time_ns": 10, "input_tok_ids": [1, 2.5]})",
       2, 81, "got '2.5'"},
      // agent CSV
      {"agent-csv", "session_id,t_s,ctx_tokens_est,out_tokens_est,call_\n", 1, 46, "unknown column 'call_'",
       "did you mean 'call'?"},
      {"agent-csv", kAgent + "a,1,10\n", 3, 1, "3 columns where the header has 4"},
      {"agent-csv", kAgent + "a,-1,20,5\n", 3, 3, "'t_s' must be a time of at least 0"},
      {"agent-csv", kAgent + "a,1,0,5\n", 3, 5, "'ctx_tokens_est' must be a whole number of tokens"},
      {"agent-csv", kAgent + "a,2,20,5\na,1,20,5\n", 4, 3, "time runs backwards: 1 s before"},
      // OpenTelemetry
      {"otlp-json", R"({"resourceSpan": []})", 1, 1, "key 'resourceSpans' is missing"},
      {"otlp-json", R"({"resourceSpans": {}})", 1, 19, "'resourceSpans' must be a list"},
      {"otlp-json", spans(""), 0, 1, "the trace has no records"},
      {"otlp-json", spans(R"({"attributes": [)" + usage("7", "5") + "]}"), 1, 47, "key 'startTimeUnixNano' is missing"},
      {"otlp-json", spans(R"({"startTimeUnixNano": "x", "attributes": [)" + usage("7", "5") + "]}"), 1, 70,
       "'startTimeUnixNano' must be a time"},
      {"otlp-json", spans(R"({"startTimeUnixNano": "1", "attributes": [)" + usage("7", "0") + "]}"), 1, 216,
       "'gen_ai.usage.output_tokens' must be a whole number of tokens"},
      // Dynamo
      {"dynamo-jsonl",
       kDynamo + R"({"session_id": "b", "delay": 5, "input_length": 9, "output_length": 5, "hash_ids": [1]})", 2, 30,
       "a 'delay' needs a turn of the same conversation before it"},
      {"dynamo-jsonl", kDynamo + R"({"session_id": "a", "input_length": 9, "output_length": 5, "hash_ids": [1]})", 2, 1,
       "a key is missing, 'timestamp' or 'delay'"},
      {"dynamo-jsonl", kDynamo + R"({"timestamp": 9, "input_length": 300, "output_length": 5, "hash_ids": [1, 2]})", 2,
       71, "2 ids for 300 tokens; no block from 16 to 4096 tokens makes so many here and in the rows before"},
      {"dynamo-jsonl", kDynamo + R"({"event_type": "request_end", "request": {"input_tokens": 5, "output_tokens": 5}})",
       2, 42, "key 'request_received_ms' is missing"},
      {"dynamo-jsonl",
       kDynamo + R"({"event_type": "request_end", "request": {"request_received_ms": 5, "input_tokens": 65, )"
                 R"("output_tokens": 5, "replay": {"trace_block_size": 64, "input_sequence_hashes": [7]}}})",
       2, 169, "1 ids for 65 tokens in blocks of 64"},
      // Weka
      {"weka-jsonl", R"({"id": "a"})", 1, 1, "key 'requests' is missing"},
      {"weka-jsonl", R"({"id": "a", "hash_id_scope": "all", "requests": []})", 1, 30,
       "'hash_id_scope' must be local or global; got 'all'"},
      {"weka-jsonl", R"({"id": "a", "requests": [{"t": 0, "in": 9, "hash_ids": []}]})", 1, 26, "key 'out' is missing"},
      {"weka-jsonl", R"({"id": "a", "requests": [{"t": 0, "in": 9, "out": 5, "hash_ids": [1, 2]}]})", 1, 66,
       "2 ids for 9 tokens in blocks of 64"},
      {"weka-jsonl", R"({"id": "a", "requests": [{"t": 0, "type": "subagent", "requests": [{"in": 9}]}]})", 1, 68,
       "key 't' is missing"},
      // our own
      {"llmscape-jsonl", "{\"schema\": \"trace/2\"}\n" + kOwn, 1, 12, "this reads schema trace/1, not 'trace/2'"},
      {"llmscape-jsonl", "{\"schema\": \"trace/1\"}\n", 0, 1, "the trace has no records"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "output_tokens": 5})", 2, 1, "either 'prompt' or 'prompt_tokens'"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt": [[1]], "output_tokens": 5})", 2, 29,
       "must be [id, tokens] or [id, tokens, offset]"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt": [[1, 0]], "output_tokens": 5})", 2, 33,
       "'tokens' must be a whole number"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt": [[1, 5, -1]], "output_tokens": 5})", 2, 36,
       "'offset' must be a whole number of tokens from 0"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt": [], "output_tokens": 5})", 2, 28,
       "'prompt' has 0 tokens"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt": [[1, 2147483647], [2, 1]], "output_tokens": 5})", 2, 28,
       "'prompt' has 2147483648 tokens"},
      {"llmscape-jsonl", kOwn + R"({"arrival_s": 9, "prompt_tokens": 1, "output_tokens": 5, "session": 3})", 2, 69,
       "'session' must be a text"},
  };
}

}  // namespace

TEST_CASE("a broken row is reported where it stands, once, and ends the trace") {
  for (const BrokenTrace& broken : broken_traces()) {
    CAPTURE(broken.content.substr(0, 200));
    const TraceFolder folder;
    folder.write("sys_prompt.jsonl", R"({"sys_prompt_id": 1, "token_length": 10})");
    folder.write("passages.jsonl", "");
    folder.write("history.jsonl", "");
    folder.write("web_search.jsonl", "");
    folder.write("user_input.jsonl", R"({"user_input_id": 2, "token_length": 2})");
    const std::string path = folder.write("trace", broken.content);

    Diagnostics diagnostics;
    const auto trace = open_trace(path, broken.format, {}, diagnostics);
    REQUIRE(trace);
    while (trace->next(diagnostics)) {
    }
    REQUIRE(diagnostics.errors() == 1);
    const Diagnostic error = diagnostics.sorted().front();
    INFO(error.message);
    CHECK(error.where.source->name == path);
    CHECK(error.where.line == broken.line);
    CHECK(error.where.column == broken.column);
    CHECK(error.message.find(broken.fragment) != std::string::npos);
    CHECK(error.suggestion == broken.suggestion);
    CHECK_FALSE(trace->next(diagnostics));  // and stays ended
    CHECK(diagnostics.errors() == 1);
  }
}

TEST_CASE("the rows before a broken one stand") {
  const TraceFolder folder;
  Diagnostics diagnostics;
  CHECK(read_all(folder.write("trace", kMooncake + kMooncake + "{\"timestamp\": 10}\n" + kMooncake), "mooncake-jsonl",
                 diagnostics)
            .size() == 2);
  CHECK(diagnostics.errors() == 3);  // the three keys that row 3 lacks
}

TEST_CASE("up to twenty broken rows are told, and what stands between them is not read as records") {
  const TraceFolder folder;
  std::string rows;
  for (int i = 0; i < 60; ++i)
    rows += fmt::format("{{\"arrival_s\": {}, \"prompt_tokens\": 1, \"output_tokens\": {}}}\n", i, i % 2);
  Diagnostics diagnostics;
  CHECK(read_all(folder.write("trace.jsonl", "{\"arrival_s\": 0, \"prompt_tokens\": 1, \"output_tokens\": 1}\n" + rows),
                 "", diagnostics)
            .size() == 1);
  CHECK(diagnostics.errors() == 20);
  CHECK(diagnostics.sorted().front().where.line == 2);
  CHECK(diagnostics.sorted().back().where.line == 40);
}

TEST_CASE("a message shows the line of the trace with the place underlined") {
  const TraceFolder folder;
  const std::string path = folder.write("trace.csv", kAzure + "2023-11-16 18:17:04,1e3,27\n");
  Diagnostics diagnostics;
  read_all(path, "", diagnostics);
  const std::string text = diagnostics.text(false);
  CHECK(text.find(path + ":3:21: error: 'ContextTokens' must be a whole number") != std::string::npos);
  CHECK(text.find("    3 | 2023-11-16 18:17:04,1e3,27\n      |                     ^~~\n") != std::string::npos);
}

TEST_CASE("a compressed trace that is cut short is an error below the last row that was read") {
  std::string rows;
  for (int i = 0; i < 20'000; ++i)
    rows += fmt::format("{{\"arrival_s\": {}, \"prompt_tokens\": 1, \"output_tokens\": 1}}\n", i);
  for (const std::string name : {"trace.gz", "trace.zst"}) {
    CAPTURE(name);
    const TraceFolder folder;
    const std::string path = folder.path_of(name);
    const std::string whole = compressed_for(path, rows);
    write_file_atomically(path, whole.substr(0, whole.size() - 4));
    Diagnostics diagnostics;
    const auto records = read_all(path, "", diagnostics);
    CHECK(records.size() > 10'000);
    REQUIRE(diagnostics.errors() == 1);
    const Diagnostic error = diagnostics.sorted().front();
    CHECK(error.message.find("truncated") != std::string::npos);
    CHECK(error.where.source->name == path);
    CHECK(error.where.line == static_cast<int>(records.size()) + 1);
  }
}
