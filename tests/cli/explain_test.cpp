// SPDX-License-Identifier: Apache-2.0
// `explain` and `sensitivity` as they are called.
#include <doctest/doctest.h>

#include <cmath>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using llmscape::testing::approx;

namespace llmscape::test::explain_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a run is explained from its folder, from its run.json and from a point of a sweep that holds it") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario());
  REQUIRE(run_program({"run", scenario, "-o", scratch.path("out"), "-q"}).code == 0);
  const Ran folder = run_program({"explain", scratch.path("out")});
  CAPTURE(folder.err);
  CHECK(folder.code == 0);
  CHECK(holds(folder.out, "TTFT is "));
  CHECK(holds(folder.out, "Where a request's time went"));
  CHECK(run_program({"explain", scratch.path("out/run.json")}).out == folder.out);
  const std::string point =
      scratch.file("p.json", R"({"schema": "point/1", "result": )" + scratch.content("out/run.json") + "}");
  CHECK(run_program({"explain", point}).out == folder.out);

  const auto json = nlohmann::json::parse(run_program({"explain", scratch.path("out"), "--format", "json"}).out);
  const auto run = nlohmann::json::parse(scratch.content("out/run.json"));
  double seconds = 0;
  for (const auto& part : json["requests"]) seconds += part["seconds"].get<double>();
  CHECK(seconds == approx(run["latency"]["e2e_s"]["mean"].get<double>()).epsilon(1e-9));
}

TEST_CASE("what is no result is refused") {
  const Scratch scratch;
  const Ran none = run_program({"explain", scratch.path("nowhere")});
  CHECK(none.code == 2);
  CHECK(holds(none.err, "nowhere"));
  const Ran other = run_program({"explain", scratch.file("x.json", R"({"schema": "manifest/1"})")});
  CHECK(other.code == 2);
  CHECK(holds(other.err, "this is not a result of 'llmscape run'"));
}

TEST_CASE("sensitivity refuses text of --only that no figure has in its path") {
  const Scratch scratch;
  const Ran ran = run_program({"sensitivity", scratch.file("s.yaml", small_scenario()), "--only", "hbm_bandwidth",
                               "--only", "idle_pwer", "-q"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "no figure of the hardware has 'idle_pwer' in its path"));
  CHECK(holds(ran.err, "did you mean 'idle_power'?"));
}

TEST_CASE("sensitivity refuses metrics that the run does not have: they would read as figures without effect") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario());
  const Ran ran = run_program({"sensitivity", scenario, "--metrics", "goodput_rps,total_cost,ttft.mean", "-q", "-j1"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "--metrics: the run has no 'goodput_rps'"));
  CHECK(holds(ran.err, "--metrics: the run has no 'total_cost'"));
  CHECK(holds(ran.err, "give the scenario prices: cost.devices"));
  CHECK(holds(ran.err, "2 errors."));
  // What nobody asked for may be missing: calls of one token have no tpot.
  CHECK(run_program({"sensitivity", scenario, "--set", "workload.stream.output={kind: fixed, value: 1}", "--only",
                     "idle_power", "-q", "-j1"})
            .code == 0);
}

TEST_CASE("the paths of sensitivity are what --set takes, in a list of the preset too") {
  const Scratch scratch;
  const std::string scenario = scratch.file(
      "s.yaml",
      "schema: scenario/1\nmodel: qwen2.5-1.5b\nhardware: {devices: [{preset: h100-sxm, count: 2}]}\n"
      "serving: {tensor_parallel: 2}\nworkload: {arrivals: {kind: poisson, rate: 5 /s}, requests: 20, stream: {kind: "
      "lengths, prompt: {kind: fixed, value: 256}, output: {kind: fixed, value: 8}}}\nseed: 7\n");
  const Ran found = run_program({"sensitivity", scenario, "--only", ".links.collectives[7].latency", "--metrics",
                                 "tpot.mean", "--format", "json", "-q", "-j1"});
  REQUIRE_MESSAGE(found.code == 0, found.err);
  const auto json = nlohmann::json::parse(found.out);
  REQUIRE(json["parameters"].size() == 1);
  const auto& parameter = json["parameters"][0];
  CHECK(parameter["path"] == "hardware.devices[h100-sxm].links.collectives[7].latency");
  CHECK(parameter["value"] == "4163 ns");
  // A tenth more of the latency that each of a step's all-reduces of two ranks has.
  const Ran run = run_program(
      {"run", scenario, "--set", parameter["path"].get<std::string>() + "=4579.3 ns", "--format", "json", "-q"});
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const double tpot = nlohmann::json::parse(run.out)["latency"]["tpot_s"]["mean"];
  const double effect = parameter["effects"]["tpot_s.mean"]["more"];
  CHECK(effect > 0.001);
  CHECK(std::abs(tpot / json["base"]["tpot_s.mean"].get<double>() - 1 - effect) < 1e-9);
}

TEST_CASE("sensitivity prints the same bytes for any number of jobs, ranks, draws and writes CSV") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario());
  const auto call = [&](const std::string& jobs, const std::string& format) {
    return run_program({"sensitivity", scenario, "--only", "hbm_bandwidth", "--only", "idle_power", "--metrics",
                        "tpot.mean,joules_per_output_token", "-j", jobs, "--format", format, "-q"});
  };
  const Ran table = call("1", "table");
  CAPTURE(table.err);
  CHECK(table.code == 0);
  CHECK(holds(table.out, "hbm_bandwidth"));
  CHECK(holds(table.out, "█"));
  CHECK(call("2", "table").out == table.out);
  const auto json = nlohmann::json::parse(call("2", "json").out);
  CHECK(json["parameters"].size() == 2);
  for (const auto& parameter : json["parameters"]) {
    const double tpot = parameter["effects"]["tpot_s.mean"]["more"];
    if (holds(parameter["path"], "hbm_bandwidth")) CHECK(tpot < -0.03);
    else CHECK(tpot == 0);
  }
  CHECK(call("1", "csv").out.starts_with("parameter,value,metric,base,less,more\nhardware.devices[l4]."));
}

TEST_CASE("all mistakes in a call of sensitivity are reported at once, before anything runs") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario() + "sede: 2\n");
  const Ran ran = run_program({"sensitivity", scenario, "--change", "-5%", "--metrics", "tpott.mean"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "--change must be a share above 0"));
  CHECK(holds(ran.err, "'tpott.mean'"));
  CHECK(holds(ran.err, "sede"));
}

}  // namespace llmscape::test::explain_test
