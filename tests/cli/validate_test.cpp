// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"
#include "traces/engine_record.hpp"

namespace llmscape::test::validate_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A vLLM log of the run in `folder`, all its times moved to another clock.
std::string vllm_log_of(const Scratch& scratch, const std::string& folder) {
  std::istringstream rows(scratch.content(folder + "/requests.jsonl"));
  std::string log;
  for (std::string line; std::getline(rows, line);) {
    const auto row = nlohmann::json::parse(line);
    const double arrival = 1000 + row["metadata"]["request_start_ns"].get<double>() * 1e-9;
    const auto after = [&](const char* metric) {
      return arrival + row["metrics"][metric]["value"].get<double>() * 1e-3;
    };
    log += nlohmann::json({{"request_id", "bench-" + row["metadata"]["session_num"].dump()},
                           {"input_toks", row["metrics"]["input_sequence_length"]["value"].get<int>()},
                           {"output_toks", row["metrics"]["output_sequence_length"]["value"].get<int>()},
                           {"queued_ts", after("time_to_queue")},
                           {"scheduled_ts", after("queue_time")},
                           {"first_token_ts", after("time_to_first_token")},
                           {"last_token_ts", after("request_latency")}})
               .dump() +
           '\n';
  }
  return scratch.file("log.jsonl", log);
}

// What an engine would have recorded of one request: a prefill and a decode step.
std::string engine_record(const Scratch& scratch) {
  traces::EngineRecord record;
  record.model =
      "schema: model/1\nhidden: 64\nvocabulary: 256\nmax_position: 512\nweights: fp32\n"
      "groups:\n  - count: 2\n    attention: {heads: 4, kv_heads: 2, head_dim: 16}\n    feed_forward: {width: 128}\n";
  record.backend = "cpu";
  record.clock = "thread cpu time";
  record.max_sequences = 8;
  record.max_batched_tokens = 64;
  record.block_tokens = 16;
  record.kv_blocks = 40;
  record.steps = {{{{50, 0, true}}, {}, 0.05, 1e-6, 2e-6, 1e-3, 1e-3}, {{}, {51}, 0.06, 1e-6, 2e-6, 1e-4, 1e-4}};
  record.requests = {{"r0", 50, 2, 0.05, 0.05, 0.051, 0.0611}};
  const std::string path = scratch.path("engine.json");
  traces::write_engine_record(record, path);
  return path;
}

}  // namespace

TEST_CASE("a run validated against its own log has no error, and limits decide the exit code") {
  const Scratch scratch;
  const std::string out = scratch.path("out");
  REQUIRE(run_program({"run", scratch.file("s.yaml", small_scenario()), "-o", out, "--requests", "-q"}).code == 0);
  const std::string log = vllm_log_of(scratch, "out");
  const Ran same =
      run_program({"validate", out, "--against", log, "--max-error", "tpot.mean=0.1%", "--max-error",
                   "waiting.rmse=0.1", "--json", scratch.path("v.json"), "--markdown", scratch.path("v.md")});
  CAPTURE(same.err);
  CHECK(same.code == 0);
  CHECK(holds(same.out, "tpot.mean=0.1%"));
  CHECK(holds(scratch.content("v.md"), "| ttft"));
  const auto json = nlohmann::json::parse(scratch.content("v.json"));
  CHECK(json["schema"] == "validation/1");
  REQUIRE(json["comparisons"].size() == 5);
  for (const auto& comparison : json["comparisons"]) {
    CAPTURE(comparison["metric"].get<std::string>());
    if (comparison["statistics"]["mean"].contains("error"))
      CHECK(std::abs(comparison["statistics"]["mean"]["error"].get<double>()) < 1e-6);
  }

  // Other speed, same requests: the error is there, and what was not compared is not met either.
  const std::string slower = scratch.path("slower");
  REQUIRE(run_program({"run", scratch.path("s.yaml"), "-o", slower, "--requests", "-q", "--set",
                       "hardware.devices[0].hbm_bandwidth=150 GB/s"})
              .code == 0);
  const Ran worse = run_program({"validate", slower, "--against", log, "--max-error", "tpot.mean=1%"});
  CHECK(worse.code == 1);
  CHECK(holds(worse.out, "NO"));
  CHECK(run_program({"validate", out, "--against", log, "--max-error", "step.mean=1%"}).code == 1);
}

TEST_CASE("a device validated against an engine's record: steps priced by kind, arrivals replayed") {
  const Scratch scratch;
  const std::string record = engine_record(scratch);
  const Ran ran = run_program({"validate", "cpu-epyc-vm", "--against", record, "--json", scratch.path("v.json")});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const auto json = nlohmann::json::parse(scratch.content("v.json"));
  std::vector<std::string> metrics;
  for (const auto& comparison : json["comparisons"]) metrics.push_back(comparison["metric"]);
  CHECK(metrics ==
        std::vector<std::string>{"step", "decode step", "prefill step", "queueing", "ttft", "tpot", "e2e", "makespan"});
  CHECK(run_program({"validate", "cpu-epyc-wm", "--against", record}).code == 2);
}

TEST_CASE("tables of results are compared by name") {
  const Scratch scratch;
  const std::string predicted = scratch.file("p.csv", "id,tpot_s\na,1.1\nb,2\n"),
                    measured = scratch.file("m.csv", "id,tpot_s\nb,2\na,1\n");
  const Ran ran = run_program({"validate", predicted, "--against", measured, "--max-error", "tpot_s.error_mean=5.1%"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "+10.0 %"));
  CHECK(run_program({"validate", predicted, "--against", measured, "--max-error", "tpot_s.error_mean=4.9%"}).code == 1);
}

TEST_CASE("what cannot be compared is wrong usage, said on stderr") {
  const Scratch scratch;
  const std::string table = scratch.file("m.csv", "id,tpot_s\na,1\n");
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"validate", table, "--against", scratch.path("gone.csv")},
           {"validate", scratch.path("gone"), "--against", table},
           {"validate", table, "--against", scratch.file("o.csv", "id,ttft_s\na,1\n")},
           {"validate", table, "--against", table, "--max-error", "tpot_s.mean=5"},
           {"validate", table}}) {
    const Ran ran = run_program(wrong);
    CAPTURE(ran.out);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.err.empty());
  }
}

TEST_CASE("of several measured files the worst is held to the limit, and named") {
  const Scratch scratch;
  const std::string predicted = scratch.file("p.csv", "id,tpot_s\na,1.1\n"),
                    drifted = scratch.file("drifted.csv", "id,tpot_s\na,1\n"),  // 10 % off
      same = scratch.file("same.csv", "id,tpot_s\na,1.1\n");
  const Ran ran = run_program({"validate", predicted, "--against", drifted, "--against", same, "--max-error",
                               "tpot_s.mean=1%", "--junit", scratch.path("v.xml"), "--markdown", scratch.path("v.md")});
  CHECK(ran.code == 1);
  CHECK(holds(scratch.content("v.md"), "10.00 % (" + drifted + ")"));
  CHECK(holds(scratch.content("v.md"), "tpot_s (" + same + ")"));
  CHECK(holds(scratch.content("v.xml"), "message=\"10.00 % (" + drifted + ")\""));
}

TEST_CASE("options of rows do nothing for files beside each other, and are refused there") {
  const Scratch scratch;
  const std::string table = scratch.file("m.csv", "id,tpot_s\na,1\n");
  for (const std::vector<std::string>& of_rows : std::vector<std::vector<std::string>>{
           {"--by", "x"}, {"--columns", "none.yaml"}, {"--host", "none.yaml"}, {"-j", "2"}, {"--deployments", table}}) {
    std::vector<std::string> call = {"validate", table};
    call.insert(call.end(), of_rows.begin(), of_rows.end());
    const Ran ran = run_program(call);
    CHECK(ran.code == 2);
    CHECK_MESSAGE(holds(ran.err, " excludes "), ran.err);
  }
}

TEST_CASE(
    "what a file is, is known by what it says: a log without a key, loads in any order, a device in a folder a.csv") {
  const Scratch scratch;
  const std::string out = scratch.path("out");
  REQUIRE(run_program({"run", scratch.file("s.yaml", small_scenario()), "-o", out, "--requests", "-q"}).code == 0);
  const Ran log = run_program({"validate", out, "--against", scratch.file("log.jsonl", "{\"request_id\": \"a\"}\n")});
  CHECK(log.code == 2);
  CHECK_MESSAGE(holds(log.err, "log.jsonl:1:1: error: this is no request with its times: 'input_toks' is missing"),
                log.err);
  CHECK(run_program({"validate", out, "--against", scratch.file("l.csv", "running,t,waiting\n0,0,0\n1,1,0\n")}).code ==
        0);
  const Ran table = run_program({"validate", out, "--against", scratch.file("m.csv", "name,tpot\na,1\n")});
  CHECK(holds(table.err, "a table with the columns t, running and waiting"));
  std::ifstream catalogue("hardware/catalog/cpu-epyc-vm.yaml");
  const std::string device{std::istreambuf_iterator<char>(catalogue), {}};
  const Ran priced =
      run_program({"validate", scratch.file("a.csv.d/cpu.yaml", device), "--against", engine_record(scratch)});
  CHECK_MESSAGE(priced.code == 0, priced.err);
}

}  // namespace llmscape::test::validate_test
