// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/yaml_reader.hpp"
#include "models/native.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"
#include "traces/engine_record.hpp"

namespace llmscape::test::engine_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("engine serves synthetic requests and writes a record that can be priced") {
  const Scratch scratch;
  const std::string path = scratch.path("engine.json.gz");
  const Ran ran = run_program({"engine", "--model", "tiny", "--requests", "12", "--prompt", "40", "--output", "6",
                               "--max-num-seqs", "4", "--max-num-batched-tokens", "32", "-q", "-o", path});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.err.empty());
  CHECK(holds(ran.out, "requests  12"));
  Diagnostics diagnostics;
  const auto record = traces::read_engine_record(path, diagnostics);
  REQUIRE(record);
  CHECK(record->requests.size() == 12);
  CHECK(record->max_sequences == 4);
  CHECK(record->max_batched_tokens == 32);
  CHECK(record->kv_blocks == 4 * 6);  // the longest request has 79 + 11 tokens
  CHECK(holds(record->context.at("command"), "--model tiny"));
  const auto model = read_yaml(std::make_shared<const SourceText>(SourceText{"", record->model}), diagnostics);
  CHECK(models::read_native_model(model, "m", diagnostics));
  CHECK_FALSE(diagnostics.has_errors());
}

TEST_CASE("engine takes lengths and arrivals from a trace") {
  const Scratch scratch;
  const std::string trace = scratch.file("t.jsonl",
                                         "{\"schema\": \"trace/1\"}\n"
                                         "{\"arrival_s\": 0, \"prompt_tokens\": 20, \"output_tokens\": 3}\n"
                                         "{\"arrival_s\": 50, \"prompt_tokens\": 9, \"output_tokens\": 1}\n"
                                         "{\"arrival_s\": 60, \"prompt_tokens\": 9, \"output_tokens\": 1}\n");
  const std::string path = scratch.path("engine.json");
  const Ran ran = run_program({"engine", "--model", "tiny", "--trace", trace, "--requests", "2", "-q", "-o", path});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  Diagnostics diagnostics;
  const auto record = traces::read_engine_record(path, diagnostics);
  REQUIRE(record);
  REQUIRE(record->requests.size() == 2);
  CHECK(record->requests[0].prompt_tokens == 20);
  CHECK(record->requests[1].arrival_s == 50);
  CHECK(record->requests[1].scheduled_s == 50);
  CHECK(record->steps.size() == 4);  // 3 answers and 1
}

TEST_CASE("engine says what it cannot serve before it begins") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--model", "qwen3-0.6b"}, "computes Llama-shaped models only: it has norms over queries and keys"},
      {{"--model", "no-such-model"}, "no-such-model"},
      {{"--model", "tiny", "--prompt", "3000"}, "has 4096 positions; a request has 6062"},
      {{"--model", "tiny", "--kv-blocks", "3"}, "a request of 190 tokens needs 12 blocks; there are 3"},
      {{"--model", "tiny", "--max-num-seqs", "65"}, "64 tokens a step are fewer than 65 sequences"},
      {{"--model", "tiny", "--rate", "4"}, "--rate"},
      {{"--model", "tiny", "--time-budget", "-3 s"}, "--time-budget"},
      {{"--model", "tiny", "--graphs"}, "--graphs"},
      {{"--model", "llama-3.1-405b"}, "in single precision; this machine has"},
      {{"--model", "tiny", "--trace", "missing.jsonl"}, "missing.jsonl"},
      {{"--model", "tiny", "--requests", "0"}, "--requests"},
      {{"--backend", "tpu"}, "--backend"},
      {{"--trace", "t.jsonl", "--prompt", "3"}, "--prompt"},
  };
  for (const auto& [arguments, message] : cases) {
    CAPTURE(message);
    std::vector<std::string> all = {"engine"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = run_program(all);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_MESSAGE(holds(ran.err, message), ran.err);
  }
}

}  // namespace llmscape::test::engine_test
