// SPDX-License-Identifier: Apache-2.0
#include "traces/engine_record.hpp"

#include "base/yaml_reader.hpp"
#include "tests/unit/traces/trace_folder.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace llmscape;
using namespace llmscape::traces;

namespace {

const std::string kModel =
    "schema: model/1\nhidden: 64\nvocabulary: 256\nmax_position: 512\nweights: fp32\n"
    "groups:\n  - count: 2\n    attention: {heads: 4, kv_heads: 2, head_dim: 16}\n    feed_forward: {width: 128}\n";

EngineRecord two_steps() {
  EngineRecord record;
  record.context = {{"date", "2026-11-21"}, {"tool_version", "0.1.0 \"quoted\""}};
  record.model = kModel;
  record.backend = "cpu";
  record.clock = "thread cpu time";
  record.max_sequences = 8;
  record.max_batched_tokens = 64;
  record.block_tokens = 16;
  record.kv_blocks = 40;
  record.steps = {{{{50, 0, true}, {14, 16, false}}, {}, 0.1, 1e-6, 2e-6, 0.0123456789012345, 0.02},
                  {{}, {51, 7}, 0.15, 1e-6, 2e-6, 1.0 / 3, 0.4}};
  // Three tokens: the prompt of 50 ends in the first step, two sequences decode in the second.
  record.requests = {{"r0", 50, 2, 0.05, 0.1, 0.12, 0.5}, {"r1", 6, 1, 0.06, 0.1, 0.5, 0.5}};
  return record;
}

// What reading a record with `wrong` in the place of `right` reports.
struct Spoilt {
  std::string right, wrong;
  int line, column;
  std::string fragment;
};

}  // namespace

TEST_CASE("an engine record comes back as it was written, plain or compressed") {
  const TraceFolder folder;
  EngineRecord written = two_steps();
  written.energy_j = 123.5;
  for (const char* name : {"engine.json", "engine.json.gz", "engine.json.zst"}) {
    CAPTURE(name);
    const std::string path = folder.path_of(name);
    write_engine_record(written, path);
    Diagnostics diagnostics;
    const auto read = read_engine_record(path, diagnostics);
    REQUIRE_MESSAGE(read, diagnostics.text(false));
    CHECK(read->context == written.context);
    CHECK(read->backend == "cpu");
    CHECK(read->clock == "thread cpu time");
    CHECK(read->max_sequences == 8);
    CHECK(read->max_batched_tokens == 64);
    CHECK(read->block_tokens == 16);
    CHECK(read->kv_blocks == 40);
    CHECK_FALSE(read->graphs);
    CHECK(read->energy_j == 123.5);
    REQUIRE(read->steps.size() == 2);
    CHECK(read->steps[0].chunks == written.steps[0].chunks);
    CHECK(read->steps[0].decodes.empty());
    CHECK(read->steps[0].device_s == written.steps[0].device_s);
    CHECK(read->steps[1].chunks.empty());
    CHECK(read->steps[1].decodes == std::vector<std::int64_t>{51, 7});
    CHECK(read->steps[1].start_s == 0.15);
    CHECK(read->steps[1].schedule_s == 1e-6);
    CHECK(read->steps[1].issue_s == 2e-6);
    CHECK(read->steps[1].device_s == 1.0 / 3);
    CHECK(read->steps[1].wall_s == 0.4);
    REQUIRE(read->requests.size() == 2);
    CHECK(read->requests[0].id == "r0");
    CHECK(read->requests[0].prompt_tokens == 50);
    CHECK(read->requests[0].output_tokens == 2);
    CHECK(read->requests[0].arrival_s == 0.05);
    CHECK(read->requests[0].scheduled_s == 0.1);
    CHECK(read->requests[0].first_token_s == 0.12);
    CHECK(read->requests[0].last_token_s == 0.5);
  }
}

TEST_CASE("the model of an engine record is the YAML tree that was written") {
  const TraceFolder folder;
  const std::string path = folder.path_of("engine.json");
  write_engine_record(two_steps(), path);
  Diagnostics diagnostics;
  const auto read = read_engine_record(path, diagnostics);
  REQUIRE(read);
  const YamlNode model = read_yaml(std::make_shared<const SourceText>(SourceText{"", read->model}), diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  REQUIRE(model.find("schema"));
  CHECK(model.find("schema")->text == "model/1");
  CHECK(model.find("hidden")->text == "64");
  CHECK_FALSE(model.find("hidden")->quoted);
  REQUIRE(model.find("groups")->items.size() == 1);
  CHECK(model.find("groups")->items[0].find("attention")->find("kv_heads")->text == "2");
}

TEST_CASE("every mistake in an engine record is reported at its place") {
  const TraceFolder folder;
  const std::string path = folder.path_of("engine.json");
  write_engine_record(two_steps(), path);
  std::string error;
  const std::string good = read_file(path, error).value();
  const std::vector<Spoilt> spoilt = {
      {"llmscape.engine/1", "llmscape.engine/2", 2, 13, "schema"},
      {"\"backend\"", "\"backends\"", 4, 3, "unknown key 'backends'"},
      {"\"cpu\"", "\"gpu\"", 4, 14, "backend"},
      {"thread cpu time", "user time", 5, 12, "clock"},
      {"\"kv_blocks\":40", "\"kv_blocks\":0", 6, 88, "kv_blocks"},
      {"\"model\": {", "\"model\": 3, \"x\": {", 7, 12, "'model' must be given as a mapping"},
      {"\"tokens\":50", "\"tokens\":0", 9, 26, "tokens"},
      {"\"tokens\":50", "\"tokens\":-50", 9, 26, "tokens"},
      {"\"tokens\":50", "\"tokens\":1.5", 9, 26, "tokens"},
      {"\"decodes\":[51,7]", "\"decodes\":[51,0]", 10, 32, "decodes"},
      {"\"decodes\":[51,7]", "\"decodes\":[]", 10, 5, "a step that computes nothing"},
      {"\"start_s\":0.15", "\"start_s\":0.05", 10, 5, "a step that starts before the one in front of it"},
      {"\"wall_s\":0.4", "\"wall_s\":-0.4", 10, 124, "wall_s"},
      {"\"wall_s\":0.4", "\"wall\":0.4", 10, 115, "unknown key 'wall'"},
      {"\"first_token_s\":0.12", "\"first_token_s\":0.02", 13, 5, "must not run backwards"},
      {"\"r1\"", "\"r0\"", 14, 5, "request 'r0' stands twice"},
      {"\"arrival_s\":0.06", "\"arrival_s\":0.04", 14, 5, "a request that arrives before the one in front of it"},
      {"\"output_tokens\":2", "\"output_tokens\":4", 12, 15, "the steps answer 3 tokens and the requests have 5"},
      {"\"date\":\"2026-11-21\"", "\"date\":[1]", 3, 22, "must be a text"},
  };
  for (const Spoilt& s : spoilt) {
    CAPTURE(s.wrong);
    std::string text = good;
    const auto at = text.find(s.right);
    REQUIRE(at != std::string::npos);
    text.replace(at, s.right.size(), s.wrong);
    Diagnostics diagnostics;
    CHECK_FALSE(read_engine_record(folder.write("spoilt.json", text), diagnostics));
    bool found = false;
    for (const Diagnostic& d : diagnostics.sorted())
      found |= d.where.line == s.line && d.where.column == s.column && d.message.find(s.fragment) != std::string::npos;
    CHECK_MESSAGE(found, diagnostics.text(false));
  }
}

TEST_CASE("a file that is no engine record is refused") {
  const TraceFolder folder;
  for (const char* content : {"", "[]", "{", "3"}) {
    CAPTURE(content);
    Diagnostics diagnostics;
    CHECK_FALSE(read_engine_record(folder.write("x.json", content), diagnostics));
    CHECK(diagnostics.has_errors());
  }
  Diagnostics diagnostics;
  CHECK_FALSE(read_engine_record(folder.path_of("absent.json"), diagnostics));
  CHECK(diagnostics.has_errors());
}
