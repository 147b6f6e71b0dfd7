// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::intervals_test {
namespace {

using Json = nlohmann::ordered_json;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Ran ran = run_program(arguments);
  CHECK(ran.code == 0);
  return ran.out;
}

}  // namespace

TEST_CASE("--intervals adds 90 % intervals that no number of jobs changes, and changes nothing else") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const std::string one = json_of({"run", file, "--intervals", "-j", "1", "-q"});
  CHECK(json_of({"run", file, "--intervals", "-j", "3", "-q"}) == one);
  Json json = Json::parse(one);
  const Json intervals = json["intervals"];
  CHECK(intervals["runs"] == 19);
  CHECK(intervals["ttft_s"]["p99"]["low"] <= intervals["ttft_s"]["p99"]["high"]);
  CHECK(intervals["mean_w"]["low"] > 0);
  json.erase("intervals");
  CHECK(json.dump(2) + '\n' == json_of({"run", file}));
  CHECK(holds(run_program({"run", file, "--intervals", "-q"}).out, "90 % from"));
}

TEST_CASE("on GPUs the mean and the median of TTFT and TPOT have what a server would show beside it") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml",
                                        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: "
                                        "h100-sxm}]}\nworkload: {preset: chat-1k, requests: 20}\nseed: 1\n");
  const Json intervals = Json::parse(json_of({"run", file, "--intervals", "-q"}))["intervals"];
  for (const char* metric : {"ttft_s", "tpot_s"}) {
    const Json& mean = intervals[metric]["mean"];
    CHECK(mean["server"]["low"] < mean["low"]);
    CHECK(mean["server"]["high"] > mean["high"]);
    CHECK_FALSE(intervals[metric]["p99"].contains("server"));
  }
  CHECK(holds(run_program({"run", file, "--intervals", "-q"}).out, "on servers, whose hosts and schedulers add"));
}

}  // namespace llmscape::test::intervals_test
