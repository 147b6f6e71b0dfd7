// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>

#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

// The first row of a good file of each format.
const std::map<std::string, std::string> kFirstRows = {
    {"azure-csv", "TIMESTAMP,ContextTokens,GeneratedTokens"},
    {"mooncake-jsonl", R"({"timestamp": 0, "input_length": 9, "output_length": 5, "hash_ids": [0]})"},
    {"ragpulse-jsonl",
     R"({"timestamp": "0", "input_length": 9, "output_length": 5, "hash_ids": {"sys_prompt": [], "passages_ids": [], )"
     R"("history": [], "web_search": [], "user_input": []}, "session_id": "x"})"},
    {"vllm-jsonl", R"({"input_toks": 9, "output_toks": 5, "arrival_time_ns": 0})"},
    {"agent-csv", "session_id,t_s,ctx_tokens_est,out_tokens_est"},
    {"otlp-json",
     R"({"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "9", "attributes": []}]}]}]})"},
    {"dynamo-jsonl", R"({"session_id": "a", "timestamp": 0, "input_length": 9, "output_length": 5, "hash_ids": [1]})"},
    {"weka-jsonl", R"({"id": "a", "requests": [{"t": 0, "type": "n", "in": 9, "out": 5, "hash_ids": [1]}]})"},
    {"llmscape-jsonl", R"({"arrival_s": 0, "prompt": [[1, 9]], "output_tokens": 5})"},
};

SourceRange scenario_line_12() { return {std::make_shared<SourceText>(SourceText{"scenario.yaml", "", 12}), 12, 9, 5}; }

}  // namespace

TEST_CASE("every format recognises its own first row and no other's") {
  REQUIRE(trace_formats().size() == kFirstRows.size());
  for (const TraceFormat& format : trace_formats())
    for (const auto& [name, row] : kFirstRows) {
      CAPTURE(format.name);
      CAPTURE(name);
      CHECK(format.recognises("trace", row) == (format.name == name));
    }
}

TEST_CASE("a compressed trace is opened by its content, whatever its name") {
  const TraceFolder folder;
  const std::string row = kFirstRows.at("vllm-jsonl") + "\n";
  for (const char* ending : {"", ".gz", ".zst"}) {
    const std::string plain_name = folder.path_of("renamed");
    std::filesystem::rename(folder.write(std::string("trace") + ending, row), plain_name);
    Diagnostics diagnostics;
    const auto trace = open_trace(plain_name, "", {}, diagnostics);
    REQUIRE(trace);
    CHECK(trace->format() == "vllm-jsonl");
    CHECK(trace->next(diagnostics)->prompt_tokens == 9);
    CHECK_FALSE(trace->next(diagnostics));
    CHECK_FALSE(diagnostics.has_errors());
  }
}

TEST_CASE("what is wrong with the name of a trace is reported where the user wrote it") {
  const TraceFolder folder;
  const std::string good = folder.write("good.jsonl", kFirstRows.at("vllm-jsonl"));
  struct Case {
    std::string path;
    std::string format;
    std::string fragment;
    std::string suggestion;
  };
  const std::vector<Case> cases = {
      {folder.path_of("absent.csv"), "", "cannot open", ""},
      {folder.path_of("absent.csv"), "azure-csv", "cannot open", ""},
      {folder.write("empty.csv", ""), "", "is empty", ""},
      {folder.write("prose.txt", "It was a dark and stormy night.\n"), "", "name one of azure-csv, mooncake-jsonl", ""},
      {folder.write("tabs.tsv", "ts\tprompt\tanswer\n"), "", "name one of",
       "the cells of a table are separated by commas"},
      {good, "vlm-jsonl", "unknown trace format 'vlm-jsonl'; it is one of azure-csv", "did you mean 'vllm-jsonl'?"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.path);
    Diagnostics diagnostics;
    CHECK_FALSE(open_trace(c.path, c.format, scenario_line_12(), diagnostics));
    REQUIRE(diagnostics.errors() == 1);
    const Diagnostic error = diagnostics.sorted().front();
    CHECK(error.where.line == 12);
    CHECK(error.message.find(c.fragment) != std::string::npos);
    CHECK(error.suggestion == c.suggestion);
  }
}

TEST_CASE("a RAGPulse trace without its tables names each one that is missing") {
  const TraceFolder folder;
  folder.write("history.jsonl", R"({"history_id": 1, "token_length": 1})");
  const std::string path = folder.write("week1.jsonl", kFirstRows.at("ragpulse-jsonl"));
  Diagnostics diagnostics;
  CHECK_FALSE(open_trace(path, "", {}, diagnostics));
  CHECK(diagnostics.errors() == 4);
  for (const Diagnostic& error : diagnostics.sorted()) {
    CHECK(error.where.source->name == path);
    CHECK(error.message.find("is missing beside the trace") != std::string::npos);
  }
}
