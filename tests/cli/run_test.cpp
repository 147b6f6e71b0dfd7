// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::run_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::approx;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Ran json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return run_program(arguments);
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Three calls a second apart; the last row may be broken.
std::string trace(const std::string& last_row = "2023-11-16 18:15:02.0000000,300,30") {
  return "TIMESTAMP,ContextTokens,GeneratedTokens\n"
         "2023-11-16 18:15:00.0000000,100,10\n"
         "2023-11-16 18:15:01.0000000,200,20\n" +
         last_row + '\n';
}

}  // namespace

TEST_CASE("a file of another kind is refused at once, with what it is for") {
  const Scratch scratch;
  const Ran ran = run_program({"run", scratch.file("card.yaml", "schema: device/1\nkind: roofline\nname: card\n")});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "this is 'device/1', not a scenario"));
  CHECK(holds(ran.err, "hardware: {devices: [{preset: "));
  CHECK(holds(ran.err, "1 error."));
}

TEST_CASE("the same scenario gives the same bytes, another seed does not") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const Ran first = json_of({"run", file});
  CHECK(first.code == 0);
  CHECK(json_of({"run", file}).out == first.out);
  CHECK(json_of({"run", file, "--seed", "7"}).out == first.out);
  const Ran other = json_of({"run", file, "--seed", "8"});
  CHECK(other.out != first.out);
  CHECK(Json::parse(other.out)["seed"] == 8);
}

TEST_CASE("JSON has the promised keys in the promised order") {
  const Scratch scratch;
  const Ran ran = json_of({"run", scratch.file("s.yaml", small_scenario())});
  const Json json = Json::parse(ran.out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  const std::vector<std::string> promised = {"schema",    "seed",       "verdict",    "requests", "tasks",
                                             "tokens",    "latency",    "throughput", "kv",       "energy",
                                             "intervals", "provenance", "warnings",   "steps",    "simulated_s"};
  std::vector<std::string> present;
  for (const std::string& key : promised)
    if (json.contains(key)) present.push_back(key);
  REQUIRE(keys.size() > present.size());
  CHECK(std::vector<std::string>(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(present.size())) == present);
  CHECK(json["requests"]["injected"] == 40);
  CHECK(json["requests"]["completed"] == 40);
  CHECK(json["tokens"]["prompt"] == 40 * 256);
  CHECK(json["tokens"]["emitted"] == 40 * 32);
  CHECK(json["latency"]["tpot_s"]["count"] == 40);
  CHECK(json["latency"]["itl_s"]["count"] == 40 * 31);
  CHECK_FALSE(json["throughput"].contains("goodput_rps"));  // no SLO was stated
}

TEST_CASE("--set lays values over the scenario, one or many") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const Json json = Json::parse(json_of({"run", "--set", "workload.requests=10", "--set", "slo.ttft=1 s", file}).out);
  CHECK(json["requests"]["injected"] == 10);
  CHECK(json["throughput"]["slo_attainment"] == 1);
  const Ran wrong = run_program({"run", file, "--set", "serving.batcher.max_num_sqs=3"});
  CHECK(wrong.code == 2);
  CHECK(holds(wrong.err, "did you mean 'max_num_seqs'?"));
  const Ran twice =
      run_program({"run", file, "--set", "seed=3", "--set", "slo.ttft=x", "--set", "slo.ttft=1 s", "--seed", "4"});
  CHECK(twice.code == 2);
  CHECK(holds(twice.err, "--set slo.ttft=x:1:1: error: 'slo.ttft' has no effect: 'slo.ttft=1 s' is set later"));
  CHECK(holds(twice.err, "--set seed=3:1:1: error: 'seed' has no effect: 'seed=4' is set later"));
}

TEST_CASE("a trace that cannot be replayed is told where it is named") {
  const Scratch scratch;
  const std::string file =
      scratch.file("s.yaml",
                   "schema: scenario/1\nmodel: qwen2.5-1.5b\nhardware: {devices: [{preset: l4, count: 1}]}\n"
                   "workload:\n  speedup: 2\n  replay:\n    count: 3\n    trace: none.csv\n");
  CHECK(holds(run_program({"run", file}).err, "s.yaml:8:12: error: trace '"));
  CHECK(holds(run_program({"run", file, "--set", "workload.replay.trace=other.csv"}).err,
              "--set workload.replay.trace=other.csv:1:23: error: trace '"));
}

TEST_CASE("all mistakes are printed at once, as text or as JSON") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const std::vector<std::string> arguments = {"run", file, "--set", "seed=-1", "--set", "horizon=5"};
  const Ran text = run_program(arguments);
  CHECK(text.code == 2);
  CHECK(holds(text.err, "2 errors. Nothing was run."));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--error-format", "json"});
  const Json mistakes = Json::parse(run_program(as_json).err);
  CHECK(mistakes.size() == 2);
  CHECK(mistakes[0]["severity"] == "error");
}

TEST_CASE("-o leaves a run that --from repeats to the byte") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const std::string a = scratch.path("a"), b = scratch.path("b"), c = scratch.path("c");
  REQUIRE(run_program({"run", file, "--set", "workload.requests=20", "--requests", "--timeline", "-o", a}).code == 0);
  CHECK(files_in(a) == std::vector<std::string>{"manifest.json", "requests.jsonl", "run.json", "scenario.resolved.yaml",
                                                "timeline.json"});
  REQUIRE(run_program({"run", "--from", a, "--requests", "--timeline", "-o", b}).code == 0);
  for (const char* name : {"run.json", "scenario.resolved.yaml", "requests.jsonl", "timeline.json"}) {
    CAPTURE(name);
    CHECK_FALSE(scratch.content("a/" + std::string(name)).empty());
    CHECK(scratch.content("a/" + std::string(name)) == scratch.content("b/" + std::string(name)));
  }
  REQUIRE(run_program({"run", a + "/scenario.resolved.yaml", "-o", c}).code == 0);
  CHECK(scratch.content("a/run.json") == scratch.content("c/run.json"));
  CHECK(scratch.content("a/run.json") == json_of({"run", "--from", a}).out);
  CHECK(scratch.content("a/run.json") == json_of({"run", "--from", a + "/run.json"}).out);
}

TEST_CASE("what an earlier run left in the folder does not pass for this one's") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario()), out = scratch.path("out");
  REQUIRE(run_program({"run", file, "--requests", "-o", out}).code == 0);
  REQUIRE(run_program({"run", file, "-o", out}).code == 0);
  CHECK(files_in(out) == std::vector<std::string>{"manifest.json", "run.json", "scenario.resolved.yaml"});
}

TEST_CASE("wall time, host and arguments stand in manifest.json and nowhere else") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", file, "-o", scratch.path("a")}).code == 0);
  const Json manifest = Json::parse(scratch.content("a/manifest.json"));
  CHECK(manifest["wall_s"] > 0);
  CHECK(manifest["arguments"][1] == "run");
  CHECK(manifest["tool"].contains("revision"));
  CHECK(manifest.contains("host"));
  CHECK(manifest.contains("started"));
}

TEST_CASE("a run with a trace named by a relative path is repeated from its folder") {
  const Scratch scratch;
  scratch.file("traces/calls.csv", trace());
  const std::string file = scratch.file("scenarios/s.yaml", small_scenario("{replay: {trace: ../traces/calls.csv}}"));
  REQUIRE(run_program({"run", file, "-o", scratch.path("out/a")}).code == 0);
  CHECK(holds(scratch.content("out/a/scenario.resolved.yaml"), "../../traces/calls.csv"));
  REQUIRE(run_program({"run", "--from", scratch.path("out/a"), "-o", scratch.path("out/b")}).code == 0);
  for (const char* name : {"run.json", "scenario.resolved.yaml"})
    CHECK(scratch.content("out/a/" + std::string(name)) == scratch.content("out/b/" + std::string(name)));
  CHECK(Json::parse(scratch.content("out/a/run.json"))["tokens"]["prompt"] == 600);
}

TEST_CASE("does --from find the files of further models and of devices?") {
  const Scratch scratch;
  const std::string config = "models/catalog/qwen2.5-0.5b.json";
  std::filesystem::create_directories(scratch.path("models"));
  std::filesystem::copy_file(config, scratch.path("models/small.json"));
  const std::string file = scratch.file(
      "scenarios/s.yaml",
      "schema: scenario/1\nmodel: qwen2.5-1.5b\nmodels: {other: {hf_config: ../models/small.json}}\n"
      "hardware: {devices: [{name: a, preset: l4, count: 1}, {name: b, preset: l4, count: 1}]}\n"
      "serving: {pools: [{devices: [a]}, {devices: [b], model: other}]}\n"
      "workload: {model: other, arrivals: {kind: poisson, rate: 5 /s}, requests: 10, stream: {kind: lengths, "
      "prompt: {kind: fixed, value: 64}, output: {kind: fixed, value: 8}}}\nseed: 7\n");
  const Ran first = run_program({"run", file, "-o", scratch.path("out/deep/a")});
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  CHECK(holds(scratch.content("out/deep/a/scenario.resolved.yaml"), "../../../models/small.json"));
  const Ran again = run_program({"run", "--from", scratch.path("out/deep/a"), "-o", scratch.path("b")});
  CAPTURE(again.err);
  REQUIRE(again.code == 0);
  CHECK(scratch.content("b/run.json") == scratch.content("out/deep/a/run.json"));
}

TEST_CASE("what does it cost by a list of prices in a file of its own?") {
  const Scratch scratch;
  scratch.file("lists/prices.yaml",
               "schema: prices/1\ncurrency: USD\ndevices: {l4: {hourly: 0.72 /h}, h200: {hourly: 3.6 /h}}\n");
  const std::string file = scratch.file("s.yaml", small_scenario() + "cost: lists/prices.yaml\n");
  const Json cost = Json::parse(json_of({"run", file}).out)["cost"];
  const Json inline_cost = Json::parse(
      json_of({"run",
               scratch.file("t.yaml", small_scenario() + "cost: {currency: USD, devices: {l4: {hourly: 0.72 /h}}}\n")})
          .out)["cost"];
  CHECK(cost == inline_cost);
  CHECK(cost["total_cost"].get<double>() > 0);
  const Ran none = run_program({"run", file, "--set", "cost=cloud"});
  CHECK(none.code == 2);
  CHECK(holds(none.err, "there are no prices 'cloud'"));
}

TEST_CASE("is a whole number on the command line read as it was typed?") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  // 2^64 and 2^63 were read as 2^63 - 1, 010 as 8, and -1 as 2^64 - 1 where no sign is kept.
  for (const char* number : {"18446744073709551616", "9223372036854775808"}) {
    CAPTURE(std::string(number));
    const Ran ran = run_program({"run", file, "--seed", number});
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, number));
    CHECK(holds(ran.err, "beyond"));
  }
  for (const char* number : {"010", "0x10", "1.5", "1e3", "", "7 "})
    CHECK(run_program({"run", file, "--seed", number}).code == 2);
  for (const char* verb : {"run", "bench"}) CHECK(run_program({verb, "--seed", "-1", file}).code == 2);
  CHECK(run_program({"run", file, "--seed", "9223372036854775807"}).code == 0);
}

TEST_CASE("a mistake far down in a trace is reported where it stands, and nothing is written") {
  const Scratch scratch;
  scratch.file("calls.csv", trace("2023-11-16 18:15:02.0000000,-5,30"));
  const std::string file = scratch.file("s.yaml", small_scenario("{replay: {trace: calls.csv}}"));
  const Ran ran = run_program({"run", file, "--requests", "-o", scratch.path("out")});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "calls.csv:4:"));
  CHECK_FALSE(fs::exists(scratch.path("out")));
}

TEST_CASE("timeline.json is a Chrome trace: steps of a replica do not overlap, requests begin and end") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", file, "--timeline", "-o", scratch.path("a")}).code == 0);
  const Json result = Json::parse(scratch.content("a/run.json")),
             timeline = Json::parse(scratch.content("a/timeline.json"));
  double last_end = 0;
  std::int64_t steps = 0, begins = 0, ends = 0;
  for (const Json& event : timeline["traceEvents"]) {
    const std::string phase = event["ph"];
    begins += phase == "b";
    ends += phase == "e";
    if (phase != "X") continue;
    ++steps;
    CHECK(event["ts"].get<double>() >= last_end - 1e-4);
    last_end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  CHECK(steps == result["steps"]);
  CHECK(begins == 4 * 40);  // the request, its queue, prefill and decode
  CHECK(ends == begins);
}

TEST_CASE("vllm-json has vLLM's keys, in ms, with the numbers of our JSON") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  const Json ours = Json::parse(json_of({"run", file}).out);
  const Json theirs = Json::parse(run_program({"run", file, "--format", "vllm-json"}).out);
  CHECK(theirs["completed"] == 40);
  CHECK(theirs["total_input_tokens"] == 40 * 256);
  CHECK(theirs["total_output_tokens"] == 40 * 32);
  CHECK(theirs["p99_e2el_ms"].get<double>() == ours["latency"]["e2e_s"]["p99"].get<double>() * 1e3);
  CHECK(theirs["std_ttft_ms"].get<double>() == ours["latency"]["ttft_s"]["std"].get<double>() * 1e3);
  CHECK(theirs["median_tpot_ms"].get<double>() == ours["latency"]["tpot_s"]["p50"].get<double>() * 1e3);
  CHECK(theirs["output_throughput"] == ours["overall"]["throughput"]["output_tokens_per_s"]);
}

// The prompt answers one token, and each of 10 steps three drafts and one more: 40 gaps, of which 30 are 0. A client
// sees 11 chunks, and 10 gaps of a step each.
TEST_CASE("vllm-json: under speculation ITL has a gap for each chunk, as a client sees it") {
  const Scratch scratch;
  const std::string file =
      scratch.file("s.yaml",
                   "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
                   "serving: {speculation: {tokens: 3, acceptance: 1, draft: {share: 0.05}}}\n"
                   "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, "
                   "prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 41}}}\n");
  const Json ours = Json::parse(json_of({"run", file}).out)["latency"]["itl_s"];
  const Json theirs = Json::parse(run_program({"run", file, "--format", "vllm-json"}).out);
  const auto ms = [&theirs](const char* key) { return theirs[key].get<double>(); };
  const double decoding = ms("mean_e2el_ms") - ms("mean_ttft_ms");
  CHECK(ours["count"] == 40);
  CHECK(ours["p50"] == 0);
  CHECK(ours["mean"].get<double>() * 1e3 == approx(decoding / 40).epsilon(1e-9));
  CHECK(ms("mean_itl_ms") == approx(decoding / 10).epsilon(1e-9));
  CHECK(ms("median_itl_ms") == approx(decoding / 10).epsilon(0.01));
  CHECK(ms("std_itl_ms") < 0.01 * decoding / 10);
}

TEST_CASE("the table says first what ran and that it is not valid") {
  const Scratch scratch;
  const Ran ran = run_program({"run", scratch.file("s.yaml", small_scenario())});
  CHECK(ran.out.starts_with("qwen2.5-1.5b on 1 x l4: NOT VALID, noisy; 40 of 40 requests completed"));
  CHECK(holds(ran.out, "\nbecause "));
  CHECK_FALSE(holds(ran.out, "\x1b["));
  CHECK(holds(run_program({"run", scratch.path("s.yaml"), "--color", "always"}).out, "\x1b["));
}

TEST_CASE("stderr stays empty when nothing is to be said") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario());
  CHECK(run_program({"run", file, "--quiet"}).err.empty());
  CHECK(holds(run_program({"run", file, "--quiet", "--verbose"}).err, "steps"));
}

}  // namespace llmscape::test::run_test
