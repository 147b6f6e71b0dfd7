// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

std::vector<TraceRecord> read_good(const std::string& path) {
  Diagnostics diagnostics;
  auto records = read_all(path, "", diagnostics);
  INFO(diagnostics.text(false));
  REQUIRE_FALSE(diagnostics.has_errors());
  return records;
}

void write_component_tables(const TraceFolder& folder) {
  folder.write("sys_prompt.jsonl", R"({"sys_prompt_id": 100, "token_length": 437})");
  folder.write("passages.jsonl.gz",
               "{\"passage_id\": 0, \"token_length\": 84}\n{\"passage_id\": 1, \"token_length\": 286}\n");
  folder.write("history.jsonl.zst", R"({"history_id": 200, "token_length": 11})");
  folder.write("web_search.jsonl", R"({"web_search_id": 300, "token_length": 512})");
  folder.write("user_input.jsonl", R"({"user_input_id": 400, "token_length": 2})");
}

}  // namespace

TEST_CASE("an Azure row has its arrival to 100 ns and content that nothing else has") {
  const TraceFolder folder;
  const auto records = read_good(folder.write("code.csv",
                                              "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                                              "2023-11-16 23:59:59.9799600,4808,10\r\n"
                                              "2023-11-17 00:00:00.0319601,110,27\r\n"
                                              "2023-11-17 00:00:00.0319601,110,27\r\n"));
  REQUIRE(records.size() == 3);
  CHECK(records[0].arrival == Seconds(0));
  CHECK(records[1].arrival == Seconds(0.0520001));  // across midnight
  CHECK(records[2].arrival == records[1].arrival);
  CHECK(records[0].prompt_tokens == 4808);
  CHECK(records[0].output_tokens == 10);
  CHECK(tokens_of(records[0].prompt) == 4808);
  CHECK_FALSE(records[1].known_content);
  CHECK(records[1].prompt[0].id != records[2].prompt[0].id);
}

TEST_CASE("Azure columns are found by name, and the time stamps of 2024 are read") {
  const TraceFolder folder;
  const auto records = read_good(folder.write("conv.csv",
                                              "GeneratedTokens,TIMESTAMP,ContextTokens\n"
                                              "5,2024-05-10 00:00:00.009930+00:00,2162\n"
                                              "6,2024-05-10 00:00:01+00:00,2399\n"));
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt_tokens == 2162);
  CHECK(records[0].output_tokens == 5);
  CHECK(records[1].arrival == Seconds(0.99007));
}

TEST_CASE("Mooncake blocks of 512 tokens become content, the last one partial") {
  const TraceFolder folder;
  const auto records = read_good(
      folder.write("trace.jsonl",
                   "\xEF\xBB\xBF"  // a byte-order mark
                   R"({"timestamp": 27000, "input_length": 1100, "output_length": 52, "hash_ids": [46, 47, 2353]})"
                   "\n\n"
                   R"({"timestamp": 30000, "input_length": 1024, "output_length": 26, "hash_ids": [46, 47]})"));
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt == Prompt{{46, 512}, {47, 512}, {2353, 76}});
  CHECK(records[0].known_content);
  CHECK(records[1].prompt == Prompt{{46, 512}, {47, 512}});
  CHECK(records[1].arrival == Seconds(3));  // the ticks of 3 s stay as they are
}

TEST_CASE("a RAGPulse prompt is system prompt, passages, history, search, input and a template of its own") {
  const TraceFolder folder;
  write_component_tables(folder);
  const std::string row =
      R"({"timestamp": "82", "input_length": 1340, "output_length": 192, "hash_ids": {"sys_prompt": [100], )"
      R"("passages_ids": [1, 0], "history": [200], "web_search": [300], "user_input": [400]}, "session_id": "17-af"})";
  const auto records = read_good(folder.write("week1.jsonl", row + "\n" + row));
  REQUIRE(records.size() == 2);
  const Prompt components = {{100, 437}, {1, 286}, {0, 84}, {200, 11}, {300, 512}, {400, 2}};
  REQUIRE(records[0].prompt.size() == 7);
  CHECK(Prompt(records[0].prompt.begin(), records[0].prompt.end() - 1) == components);
  CHECK(records[0].prompt.back().tokens == 8);  // 1340 less 1332 of the components
  CHECK(records[0].prompt.back().id != records[1].prompt.back().id);
  CHECK(records[0].session == "17-af");
}

TEST_CASE("token ids of a vLLM workload become blocks of 16 that two prompts share as far as their ids agree") {
  const auto row = [](int at, int tokens, int changed) {
    std::string ids;
    for (int i = 0; i < tokens; ++i) ids += (i ? ", " : "") + std::to_string(i == changed ? 9999 : i);
    return R"({"input_toks": )" + std::to_string(tokens) + R"(, "output_toks": 2, "arrival_time_ns": )" +
           std::to_string(at) + R"(, "input_tok_ids": [)" + ids + R"(], "output_tok_ids": [7, 8]})" + "\n";
  };
  const TraceFolder folder;
  const auto records = read_good(
      folder.write("workload.jsonl", row(46926808, 40, -1) + row(347938951, 40, 20) + row(400000000, 40, 35)));
  REQUIRE(records.size() == 3);
  CHECK(records[1].arrival == Seconds(0.301012143));
  for (const TraceRecord& record : records) {
    REQUIRE(record.prompt.size() == 3);
    CHECK(record.prompt[0].tokens == 16);
    CHECK(record.prompt[2].tokens == 8);
    CHECK(record.prompt[0] == records[0].prompt[0]);
  }
  CHECK(records[1].prompt[1].id != records[0].prompt[1].id);  // differs in token 20 ...
  CHECK(records[1].prompt[2].id != records[0].prompt[2].id);  // ... so all behind it differs too
  CHECK(records[2].prompt[1] == records[0].prompt[1]);
  CHECK(records[2].prompt[2].id != records[0].prompt[2].id);
}

TEST_CASE("ShareGPT rows with lengths alone are read under any of their names") {
  const TraceFolder folder;
  const auto records =
      read_good(folder.write("sharegpt.jsonl",
                             "{\"prompt_len\": 12, \"output_len\": 34, \"arrival\": 1.5}\n"
                             "{\"input_len\": 56, \"output_len\": 78, \"arrival_s\": 2}\n"
                             "{\"input_toks\": 90, \"output_toks\": 12, \"arrival_time_ns\": 2500000000}\n"));
  REQUIRE(records.size() == 3);
  CHECK(records[0].prompt_tokens == 12);
  CHECK(records[1].output_tokens == 78);
  CHECK(records[1].arrival == Seconds(0.5));
  CHECK(records[2].arrival == Seconds(1));
  CHECK_FALSE(records[0].known_content);
}

TEST_CASE("an offset of 0 is the start of a content, as none") {
  const TraceFolder folder;
  const auto records = read_good(
      folder.write("own.jsonl", "{\"arrival_s\": 0, \"prompt\": [[1, 300, 0], [2, 5]], \"output_tokens\": 7}\n"));
  REQUIRE(records.size() == 1);
  CHECK(records[0].prompt == Prompt{{1, 300}, {2, 5}});
}

TEST_CASE("the own format of another version is known, and refused by its name") {
  const TraceFolder folder;
  Diagnostics diagnostics;
  CHECK(read_all(folder.write("own.jsonl", "{\"schema\": \"trace/2\"}\n{\"a\": 0}\n"), "", diagnostics).empty());
  CHECK(diagnostics.text(false).find("this reads schema trace/1, not 'trace/2'") != std::string::npos);
}

TEST_CASE("the own format holds segments with offsets, plain lengths and conversations") {
  const TraceFolder folder;
  const auto records =
      read_good(folder.write("own.jsonl.zst",
                             "{\"schema\": \"trace/1\"}\n"
                             "{\"arrival_s\": 0, \"prompt\": [[18446744073709551615, 300], [5, 20, 40]], "
                             "\"output_tokens\": 7, \"session\": \"a\\u00e9\"}\n"
                             "{\"arrival_s\": 1e-07, \"prompt_tokens\": 2147483647, \"output_tokens\": 1}\n"));
  REQUIRE(records.size() == 2);
  CHECK(records[0].prompt == Prompt{{18446744073709551615U, 300}, {5, 20, 40}});
  CHECK(records[0].prompt_tokens == 320);
  CHECK(records[0].session == "a\xC3\xA9");
  CHECK(records[1].arrival == Seconds(1e-7));
  CHECK(records[1].prompt_tokens == 2147483647);
  CHECK_FALSE(records[1].known_content);
}
