// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::requests_test {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

TEST_CASE("requests.jsonl has one line per call in AIPerf's shape") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", file, "--requests", "-o", scratch.path("a")}).code == 0);
  const Json result = Json::parse(scratch.content("a/run.json"));
  std::istringstream lines(scratch.content("a/requests.jsonl"));
  int count = 0;
  double ttft_ms = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json row = Json::parse(line);
    ttft_ms += row["metrics"]["time_to_first_token"]["value"].get<double>();
    CHECK(row["metrics"]["time_to_first_token"]["unit"] == "ms");
    CHECK(row["metrics"]["output_sequence_length"]["value"] == 32);
    CHECK(row["error"].is_null());
    const Json& metadata = row["metadata"];
    CHECK(metadata["request_start_ns"] <= metadata["request_ack_ns"]);
    CHECK(metadata["request_ack_ns"] < metadata["request_end_ns"]);
    CHECK(metadata["x_request_id"] == std::to_string(metadata["session_num"].get<int>()));
    CHECK(metadata["benchmark_phase"] == "profiling");
    CHECK(metadata["was_cancelled"] == false);
    CHECK(metadata["cancellation_time_ns"].is_null());
    const double tpot_s = row["metrics"]["inter_token_latency"]["value"].get<double>() * 1e-3;
    CHECK(row["metrics"]["output_token_throughput_per_user"]["value"].get<double>() == testing::approx(1 / tpot_s));
  }
  CHECK(count == 40);
  CHECK(ttft_ms / 40 / 1e3 == testing::approx(result["latency"]["ttft_s"]["mean"].get<double>()));
}

TEST_CASE("a call that the engine had and never scheduled says since when the engine had it") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", file, "--requests", "-o", scratch.path("a"), "--set", "serving.batcher.max_num_seqs=1",
                       "--set", "workload.timeout=100 ms", "--set", "workload.arrivals.rate=200 /s"})
              .code == 0);
  std::istringstream lines(scratch.content("a/requests.jsonl"));
  std::int64_t waited = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    if (row["metrics"].contains("queue_time")) continue;
    ++waited;
    CHECK(row["metadata"]["request_ack_ns"] >= row["metadata"]["request_start_ns"]);
    CHECK(row["metrics"].contains("time_to_queue"));
  }
  CHECK(waited > 0);
}

TEST_CASE("requests.jsonl says why a call has no answer, and has no metric that it did not live to see") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", file, "--requests", "-o", scratch.path("a"), "--set",
                       "serving.admission.max_outstanding=1", "--set", "serving.admission.max_waiting=0"})
              .code == 0);
  const Json result = Json::parse(scratch.content("a/run.json"));
  std::istringstream lines(scratch.content("a/requests.jsonl"));
  std::int64_t dropped = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    if (row["error"].is_null()) continue;
    ++dropped;
    CHECK(row["error"] == Json{{"code", nullptr}, {"type", "dropped"}, {"message", "queue_full"}});
    CHECK(row["metadata"]["request_ack_ns"].is_null());
    CHECK_FALSE(row["metrics"].contains("time_to_first_token"));
    CHECK(row["metrics"]["output_sequence_length"]["value"] == 0);
  }
  CHECK(dropped > 0);
  CHECK(dropped == result["requests"]["dropped"]);
  REQUIRE(run_program({"run", file, "--requests", "-o", scratch.path("b"), "--set", "workload.timeout=1 ms"}).code ==
          0);
  const std::string late = scratch.content("b/requests.jsonl");
  const Json error = Json::parse(late.substr(0, late.find('\n')))["error"];
  CHECK(error == Json{{"code", nullptr}, {"type", "timed_out"}, {"message", "no answer within the timeout"}});
}

}  // namespace llmscape::test::requests_test
