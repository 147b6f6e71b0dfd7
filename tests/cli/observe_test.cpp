// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using llmscape::testing::approx;

namespace llmscape::test::observe_test {
namespace {

const std::string kFixtures = "tests/unit/observe/fixtures/";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("observe: a log, a benchmark and power become a scenario, a trace and a comparison") {
  const Scratch scratch;
  const Ran ran = run_program({"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json",
                               kFixtures + "nvidia_smi.csv", "--gpus", "0", "--device", "h100-sxm", "-o",
                               scratch.path("seen"), "--json", scratch.path("error.json")});
  CHECK(ran.err == "");
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "requests: 5"));
  CHECK(holds(ran.out, "1 of 6 requests failed or had no answer"));
  const auto observed = nlohmann::json::parse(scratch.content("seen/observed.json"));
  CHECK(observed["metrics"]["tpot_s.mean"].get<double>() == approx(0.007));
  // From midway to the idle sample before on, the first loaded one tells of 1.001 s, and calls took 0.93 s.
  CHECK(observed["metrics"]["mean_w"].get<double>() == approx(411.5).epsilon(1e-5));
  const auto errors = nlohmann::json::parse(scratch.content("error.json"));
  CHECK(errors["comparisons"][0]["metric"] == "ttft");
  CHECK(errors["comparisons"][0]["count"] == 5);
  CHECK(holds(scratch.content("seen/scenario.yaml"), "max_num_seqs: 64"));
  const Ran again = run_program({"run", scratch.path("seen/scenario.yaml"), "--format", "json"});
  CHECK(again.code == 0);
  CHECK(nlohmann::json::parse(again.out)["latency"]["tpot_s"]["mean"].get<double>() ==
        approx(errors["comparisons"][1]["statistics"]["mean"]["predicted"].get<double>()));
}

TEST_CASE("observe: limits fail, and what cannot be predicted is said") {
  const Scratch scratch;
  const std::vector<std::string> call = {
      "observe", kFixtures + "vllm_bench.json", kFixtures + "vllm.log", "--device", "h100-sxm", "--max-error"};
  auto with = [&](const char* limit) {
    auto all = call;
    all.emplace_back(limit);
    return run_program(all).code;
  };
  CHECK(with("tpot.mean=50%") == 0);
  CHECK(with("tpot.mean=1%") == 1);
  CHECK(with("running.rmse=100") == 1);  // the run was over before the log's first sample: not compared
  const Ran alone = run_program({"observe", kFixtures + "vllm_bench.json", "--max-error", "tpot.mean=50%"});
  CHECK(alone.code == 2);
  CHECK(holds(alone.err, "nothing says what was served"));
  const Ran unsaid = run_program({"observe", kFixtures + "vllm_bench.json", "--device", "h100-sxm"});
  CHECK(unsaid.code == 0);
  CHECK(holds(unsaid.out, "nothing is predicted: what was served takes --device beside a log"));
  const Ran both = run_program({"observe", kFixtures + "vllm_bench.json", "--device", "h100-sxm", "--scenario",
                                "examples/chat-h100/scenario.yaml"});
  CHECK(both.code == 2);  // the scenario has a device of its own
  CHECK(holds(both.err, "--device excludes --scenario"));
  const Ran figures = run_program({"observe", kFixtures + "vllm.log"});
  CHECK(holds(figures.out, "running                    2    3.5      4\n"));  // 4 and 3, after the sample before work
  const Ran log = run_program({"observe", kFixtures + "sglang.log", "--device", "h100-sxm"});
  CHECK(log.code == 0);
  CHECK(holds(log.out, "there is nothing to replay"));
}

TEST_CASE("observe: a folder keeps nothing of other measurements, and a log without its beginning is told") {
  const Scratch scratch;
  const std::string seen = scratch.path("seen");
  REQUIRE(run_program(
              {"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device", "h100-sxm", "-o", seen})
              .code == 0);
  CHECK(std::filesystem::exists(seen + "/trace.jsonl"));
  REQUIRE(run_program({"observe", kFixtures + "vllm_bench.json", "-o", seen}).code == 0);
  CHECK(std::filesystem::exists(seen + "/observed.json"));
  CHECK_FALSE(std::filesystem::exists(seen + "/scenario.yaml"));
  CHECK_FALSE(std::filesystem::exists(seen + "/trace.jsonl"));

  std::ifstream whole(kFixtures + "vllm.log");
  std::string cut;
  int number = 0;
  for (std::string line; std::getline(whole, line);)
    if (++number > 2) cut += line + "\n";
  const std::string release = " (v0.11.0)";
  cut.erase(cut.find(release), release.size());
  const Ran ran =
      run_program({"observe", scratch.file("cut.log", cut), kFixtures + "vllm_bench.json", "--device", "h100-sxm"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "no version of vllm stands in the log"));
  CHECK(holds(ran.out, "no arguments of the server stand in the log"));
}

TEST_CASE("observe: a mistake in one file, and nothing is written") {
  const Scratch scratch;
  const std::string broken = scratch.file("broken.json", "{\"backend\": \"vllm\", \"request_rate\": ");
  const Ran ran = run_program({"observe", kFixtures + "vllm.log", broken, "--device", "h100-sxm", "-o",
                               scratch.path("seen"), "--json", scratch.path("error.json")});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "broken.json:1:37: error: this is no JSON from here on"));
  CHECK(ran.out == "");
  CHECK_FALSE(std::filesystem::exists(scratch.path("seen")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("error.json")));
}

TEST_CASE("observe: a file that is named twice is refused, by another path too") {
  const Scratch scratch;
  const std::string power =
      scratch.file("p.csv", "timestamp, index, power.draw [W]\n2026/05/12 09:01:00.000, 0, 650 W\n");
  std::filesystem::create_symlink(power, scratch.path("link.csv"));
  for (const std::string& again : {power, scratch.path("link.csv"), "power-csv:" + power}) {
    const Ran ran = run_program({"observe", power, again});
    CHECK(ran.code == 2);
    CHECK_MESSAGE(holds(ran.err, "the same file as"), ran.err);
  }
  CHECK(holds(run_program({"observe", power}).out, "650"));
}

TEST_CASE("observe: what a log's arguments say reaches the scenario, and what is not read is told") {
  const Scratch scratch;
  const std::string sglang = scratch.file(
      "sglang.log",
      "[2025-05-12 09:00:01] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', tp_size=2, "
      "dp_size=2, stream_interval=10, quantization='fp8', schedule_policy='lof')\n");
  const Ran theirs = run_program({"observe", sglang, "--device", "h100-sxm", "-o", scratch.path("sglang")});
  CHECK(theirs.code == 0);
  CHECK(holds(theirs.out, "not modelled and left out: schedule_policy lof"));
  const std::string scenario = scratch.content("sglang/scenario.yaml");
  for (const char* part : {"weights: fp8", "stream_interval: 10", "count: 4", "router: round_robin"})
    CHECK_MESSAGE(holds(scenario, part), part);

  const std::string vllm = scratch.file(
      "vllm.log",
      "INFO 05-12 09:00:01 [api_server.py:1896] vLLM API server version 0.11.0\n"
      "INFO 05-12 09:00:01 [utils.py:233] non-default args: {'model': 'meta-llama/Llama-3.1-8B-Instruct', "
      "'stream_interval': 10, 'speculative_config': {'method': 'ngram', 'num_speculative_tokens': 4, 'note': \"it's\", "
      "'disable_padded_drafter_batch': False, 'revision': None}, 'hf_overrides': {'x': 1}}\n");
  const Ran drafts = run_program({"observe", vllm, "--device", "h100-sxm", "-o", scratch.path("vllm")});
  CHECK(drafts.err == "");
  CHECK(drafts.code == 0);
  CHECK(holds(drafts.out, "not modelled and left out: hf_overrides {'x': 1}"));
  for (const char* part : {"stream_interval: 10", "0.11.0", "speculation:", "tokens: 4"})
    CHECK_MESSAGE(holds(scratch.content("vllm/scenario.yaml"), part), part);
}

TEST_CASE("observe: quotes and blanks in a log's arguments take no other argument away") {
  const Scratch scratch;
  const auto scenario_of = [&](const std::string& arguments) {
    const std::string log = scratch.file("vllm.log",
                                         "INFO 05-12 09:00:01 [api_server.py:1896] vLLM API server version 0.11.0\n"
                                         "INFO 05-12 09:00:01 [utils.py:233] non-default args: {" +
                                             arguments + "}\n");
    const Ran ran = run_program({"observe", log, "--device", "h100-sxm", "-o", scratch.path("seen"), "--overwrite"});
    CHECK(ran.err == "");
    CHECK_MESSAGE(ran.code == 0, ran.err);
    return scratch.content("seen/scenario.yaml");
  };
  for (const std::string& others :
       {std::string("'model': 'meta-llama/Llama-3.1-8B-Instruct', 'served_model_name': [\"it's\"], "),
        std::string("'model': 'meta-llama/Llama-3.1-8B-Instruct', 'seed': False, "),
        std::string("'model': 'meta-llama/Llama-3.1-8B-Instruct', 'download_dir': \"/data/it's\", "),
        std::string("'model': '/data/my models/Llama-3.1-8B-Instruct', 'chat_template': \"{{ it's }}\", ")}) {
    const std::string scenario =
        scenario_of(others + "'kv_cache_dtype': 'fp8', 'max_num_seqs': 64, 'tensor_parallel_size': 2");
    for (const char* part : {"count: 2", "max_num_seqs: 64", "kv: fp8", "tensor_parallel: 2"})
      CHECK_MESSAGE(holds(scenario, part), scenario);
  }
  // Three adapters, of which two are resident; that graphs are captured is what a server does anyway.
  const std::string module = "LoRAModulePath(name='a, b', path='/x', base_model_name=None)";
  const std::string lora = scenario_of(
      "'model': 'meta-llama/Llama-3.1-8B-Instruct', 'enable_lora': True, 'enforce_eager': False, 'lora_modules': [" +
      module + ", " + module + ", " + module + "], 'max_loras': 2");
  for (const char* part : {"adapters: 3", "resident: 2", "cuda_graphs: true"}) CHECK_MESSAGE(holds(lora, part), lora);
  const Ran wrong =
      run_program({"observe",
                   scratch.file("wrong.log",
                                "INFO 05-12 09:00:01 [api_server.py:1896] vLLM API server version 0.11.0\n"
                                "INFO 05-12 09:00:01 [utils.py:233] non-default args: {'model': "
                                "'meta-llama/Llama-3.1-8B-Instruct', 'max_num_seqs': 0}\n"),
                   "--device", "h100-sxm"});
  CHECK(wrong.code == 2);
  CHECK_MESSAGE(holds(wrong.err, "the log's max_num_seqs: error: '--max-num-seqs' must be a whole number"), wrong.err);
}

TEST_CASE("observe: devices that are not there have no power") {
  const Scratch scratch;
  const std::string power = scratch.file("p.csv",
                                         "timestamp, index, power.draw [W]\n2026/05/12 09:01:00.000, 0, 650 W\n"
                                         "2026/05/12 09:01:00.000, 1, 150 W\n");
  const Ran ran = run_program({"observe", power, "--gpus", "0,7"});
  CHECK(ran.code == 2);
  CHECK_MESSAGE(holds(ran.err, "--gpus: error: no power and no clock of a device '7' was read; there are 0, 1"),
                ran.err);
  CHECK(ran.out == "");
  CHECK(holds(run_program({"observe", power, "--gpus", "1"}).out, "150"));
}

TEST_CASE("observe: constants of the host from one half, scored on the other") {
  const Scratch scratch;
  const Ran ran = run_program({"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device", "h100-sxm",
                               "--fit-host", "-o", scratch.path("fitted")});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "second half, without"));
  CHECK(holds(ran.out, "second half, fitted"));
  CHECK(holds(scratch.content("fitted/host.yaml"), "fitted end to end"));
  const Ran with = run_program({"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device",
                                "h100-sxm", "--host", scratch.path("fitted/host.yaml")});
  CHECK(with.code == 0);
}

// What is observed was simulated with one constant; the two others would explain most of it.
TEST_CASE("observe: one constant of the host that was laid over a run is found again, and the others are not") {
  const Scratch scratch;
  const std::string base =
      scratch.file("base.yaml",
                   "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [h100-sxm]}\n"
                   "serving: {batcher: {policy: vllm_v1, max_num_seqs: 64, max_num_batched_tokens: 2048}}\n"
                   "workload: {requests: 240, arrivals: {kind: poisson, rate: 4 /s}, stream: {kind: lengths, prompt: "
                   "{kind: log_normal, mean: 800, cv: 0.8}, output: {kind: log_normal, mean: 150, cv: 0.6}}}\n"
                   "seed: 3\n");
  REQUIRE(run_program(
              {"run", base, "--set", "serving.front_end.per_token=60 us", "--requests", "-o", scratch.path("truth")})
              .code == 0);
  nlohmann::json bench = {{"backend", "vllm"},   {"model_id", "meta-llama/Llama-3.1-8B-Instruct"},
                          {"num_prompts", 240},  {"completed", 240},
                          {"request_rate", 4.0}, {"duration", 0.0}};
  std::istringstream lines(scratch.content("truth/requests.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json request = nlohmann::json::parse(line), &metrics = request["metrics"];
    const auto value = [&](const char* key) { return metrics[key]["value"].get<double>(); };
    const double start = request["metadata"]["request_start_ns"].get<double>() / 1e9;
    const double ttft = value("time_to_first_token") / 1e3, e2e = value("request_latency") / 1e3;
    const auto output = static_cast<std::size_t>(value("output_sequence_length"));
    bench["input_lens"].push_back(value("input_sequence_length"));
    bench["output_lens"].push_back(output);
    bench["ttfts"].push_back(ttft);
    const std::vector<double> gaps(output - 1, output > 1 ? (e2e - ttft) / static_cast<double>(output - 1) : 0);
    bench["itls"].push_back(gaps);
    bench["start_times"].push_back(1000 + start);
    bench["errors"].push_back("");
    bench["duration"] = std::max(bench["duration"].get<double>(), start + e2e);
  }
  const Ran ran = run_program({"observe", scratch.file("bench.json", bench.dump()), "--scenario", base, "--fit-host"});
  CHECK(ran.code == 0);
  CHECK_MESSAGE(holds(ran.out, "0 ms in every prefill step, 0 ms a call and 60 us a prompt token"),
                (ran.out + ran.err));
}

TEST_CASE("check: a run against what was observed, and what is no such file") {
  const Scratch scratch;
  const std::string seen = scratch.path("seen"), out = scratch.path("out");
  REQUIRE(run_program(
              {"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device", "h100-sxm", "-o", seen})
              .code == 0);
  REQUIRE(run_program({"run", seen + "/scenario.yaml", "-o", out}).code == 0);
  const auto code = [&](const std::string& file, const char* limit) {
    return run_program({"check", out, "--against", file, "--max-error", limit}).code;
  };
  CHECK(code(seen + "/observed.json", "tpot.mean=20%") == 0);
  CHECK(code(seen + "/observed.json", "tpot.mean=1%") == 1);
  CHECK(code(seen + "/observed.json", "mean_w.mean=99%") == 1);  // no power was read
  CHECK(code(scratch.file("x.json", "{\"schema\": \"run/1\"}"), "tpot.mean=1%") == 2);
  CHECK(run_program({"check", out}).code == 2);
}

TEST_CASE("check: what was observed has no window, and is held against the whole run") {
  const Scratch scratch;
  const std::string scenario =
      scratch.file("s.yaml",
                   "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
                   "workload: {preset: chat-1k, arrivals: {rate: 2 /s}, requests: 60, warmup: 5 s}\n"
                   "window: {rule: steady}\n");
  REQUIRE(run_program({"run", scenario, "-o", scratch.path("out")}).code == 0);
  const auto run = nlohmann::json::parse(scratch.content("out/run.json"));
  const double whole = run["overall"]["throughput"]["output_tokens_per_s"], watts = run["overall"]["energy"]["mean_w"];
  REQUIRE(run["window_s"] < run["simulated_s"]);
  REQUIRE(std::abs(run["throughput"]["output_tokens_per_s"].get<double>() / whole - 1) > 0.02);
  nlohmann::json observed = {{"schema", "observed/1"},
                             {"metrics", {{"output_tokens_per_s", whole}, {"mean_w", watts}}}};
  const std::string file = scratch.file("seen.json", observed.dump());
  const auto code = [&](const char* results) {
    return run_program({"check", scratch.path(results), "--against", file, "--max-error",
                        "output_tokens_per_s.mean=0.0001%", "--max-error", "mean_w.mean=0.0001%"})
        .code;
  };
  CHECK(code("out") == 0);
  observed["metrics"]["mean_w"] = 1.01 * watts;
  scratch.file("seen.json", observed.dump());
  CHECK(code("out") == 1);
  // A quantile is held against the one that was told, not against the mean, which is 50 % off.
  const auto ttft = run["latency"]["ttft_s"];
  const auto holds_p99 = [&] {
    scratch.file("seen.json", observed.dump());
    return run_program({"check", scratch.path("out"), "--against", file, "--max-error", "ttft.p99=1%"}).code == 0;
  };
  observed["metrics"]["ttft_s.mean"] = 2 * ttft["mean"].get<double>();
  CHECK_FALSE(holds_p99());
  observed["metrics"]["ttft_s.p99"] = ttft["p99"];
  CHECK(holds_p99());
  observed["metrics"]["ttft_s.mean"] = ttft["mean"];
  observed["metrics"]["ttft_s.p99"] = 2 * ttft["p99"].get<double>();
  CHECK_FALSE(holds_p99());
  observed["metrics"].erase("ttft_s.p99");
  // A sweep of one run keeps it as a point.
  observed["metrics"]["mean_w"] = watts;
  scratch.file("seen.json", observed.dump());
  const std::string plan =
      scratch.file("plan.yaml", "schema: sweep/1\nbase: " + scenario + "\naxes: {workload.arrivals.rate: [2 /s]}\n");
  REQUIRE(run_program({"sweep", plan, "-o", scratch.path("swept")}).code == 0);
  CHECK(code("swept") == 0);
}

}  // namespace llmscape::test::observe_test
