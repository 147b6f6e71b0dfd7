// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::verbs_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

constexpr const char* kTrace =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:15:00.0000000,100,10\n"
    "2023-11-16 18:15:01.0000000,200,20\n"
    "2023-11-16 18:15:03.0000000,300,30\n";

}  // namespace

TEST_CASE("--version names version, revision, compiler, build type and SimGrid") {
  const Ran ran = run_program({"--version"});
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("llmscape "));
  CHECK(holds(ran.out, "SimGrid 3."));
}

TEST_CASE("every verb has help with examples, no wider than the page") {
  for (const char* verb : {"run",         "sweep",   "pareto",   "report", "search",    "optimize", "explain",
                           "sensitivity", "compare", "check",    "lint",   "show",      "list",     "schema",
                           "trace",       "import",  "validate", "bench",  "calibrate", "engine",   "completion"}) {
    CAPTURE(std::string(verb));
    const Ran ran = run_program({verb, "-h"});
    CHECK(ran.code == 0);
    CHECK(holds(ran.out, "\nExamples:\n  llmscape "));
    CHECK(longest_line(ran.out) <= 100);
  }
}

TEST_CASE("schema prints one kind, or writes all, which refer to each other, into a folder") {
  const Scratch scratch;
  const Ran written = run_program({"schema", "-o", scratch.path("new/schemas")});
  CHECK(written.code == 0);
  CHECK(written.out.empty());
  const Ran printed = run_program({"schema", "scenario"});
  CHECK(printed.code == 0);
  CHECK(scratch.content("new/schemas/scenario.schema.json") == printed.out);
  // 'version: 0.11' is a number to whoever holds a file against the schema, and no mistake.
  CHECK(nlohmann::json::parse(printed.out)["definitions"]["engine"]["properties"]["version"]["anyOf"] ==
        nlohmann::json{{{"type", "string"}}, {{"type", "number"}}});
  CHECK(holds(printed.out, R"({"$ref": "device.schema.json#/definitions/device.gpu"})"));
  CHECK(holds(scratch.content("new/schemas/device.schema.json"), "\"device.gpu\": {"));
}

TEST_CASE("bench lists its cases, times those that match into a record, and refuses what it cannot do") {
  const Scratch scratch;
  const Ran list = run_program({"bench", "--list", "--quick", "--filter", "^gemm/m:1/"});
  CHECK(list.code == 0);
  CHECK(holds(list.out, "gemm/m:1/n:"));
  CHECK_FALSE(holds(list.out, "gemm/m:2/"));
  const std::string record = scratch.path("r.json");
  // The probes of the machine alone take 25 s where its memory is slow to map.
  const Ran ran = run_program({"bench", "--filter", "kind:norm/rows:1/", "-q", "-o", record}, 180);
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "elementwise"));
  CHECK(std::filesystem::exists(record));
  CHECK(run_program({"bench", "--filter", "("}).code == 2);
  CHECK(run_program({"bench", "--filter", "no such kernel"}).code == 2);
  CHECK(run_program({"bench", "--time-budget", "3"}).code == 2);
  CHECK(run_program({"bench", "--backend", "tpu"}).code == 2);
}

TEST_CASE("lint says what a file is, by its schema, its name or its first line") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario()), trace = scratch.file("t.csv", kTrace);
  const std::string json = scratch.file(
      "s.json",
      R"({"schema": "scenario/1", "model": "qwen2.5-1.5b", "hardware": {"devices": ["l4"]}, "workload": {"preset": )"
      R"("chat-1k", "requests": 5}, "serving": {"engine": {"name": "vllm", "version": 0.11}}})");
  const Ran ran = run_program({"lint", scenario, trace, "hardware/catalog/l4.yaml", "workloads/catalog/chat-1k.yaml",
                               "models/catalog/qwen3-8b.json", json});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  for (const char* what : {"s.yaml: a scenario", "t.csv: a trace", "l4.yaml: a device", "chat-1k.yaml: a workload",
                           "qwen3-8b.json: a model", "s.json: a scenario"})
    CHECK(holds(ran.out, what));
}

TEST_CASE("lint knows the parts that other descriptions name: every one of the catalogue, and mistakes in them") {
  for (const auto& [folder, kind] : {std::pair("nodes", "node"), std::pair("links", "link"), std::pair("hosts", "host"),
                                     std::pair("dram", "dram"), std::pair("tiers", "tier")})
    for (const auto& file : std::filesystem::directory_iterator(std::string("hardware/catalog/") + folder)) {
      const Ran ran = run_program({"lint", file.path().string()});
      CHECK_MESSAGE(ran.code == 0, ran.err);
      CHECK(holds(ran.out, file.path().filename().string() + ": a " + kind + " without mistakes"));
    }
  CHECK(holds(run_program({"lint", "examples/questions/prices.yaml"}).out, "prices.yaml: prices without mistakes"));
  const Scratch scratch;
  const std::string node = scratch.file(
      "n.yaml", "schema: node/1\nport: 450 GB/s\nport_latency: 2 us\nuplnk: 1 GB/s\nuplink_latency: -5 us\n");
  const Ran ran = run_program({"lint", node});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "n.yaml:4:1: error: unknown key 'uplnk'"));
  CHECK(holds(ran.err, "did you mean 'uplink'?"));
  CHECK(holds(ran.err, "n.yaml:5:17: error: 'uplink_latency'"));
  CHECK(holds(run_program({"show", "hardware/catalog/nodes/hgx-h200.yaml"}).out, "port: 450 GB/s"));
}

TEST_CASE("lint prints the mistakes of all files, and reads the traces that a scenario names") {
  const Scratch scratch;
  scratch.file("t.csv", std::string(kTrace) + "2023-11-16 18:15:02.0000000,300,30\n");
  const std::string a = scratch.file("a.yaml", small_scenario("{replay: {trace: t.csv}}")),
                    b = scratch.file("b.yaml", "schema: device/1\nkind: gpu\nnam: x\n");
  const Ran ran = run_program({"lint", a, b});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "t.csv:5:"));
  CHECK(holds(ran.err, "b.yaml:3:1: error: unknown key 'nam'"));
  CHECK(ran.out.empty());
  const auto mistakes = nlohmann::json::parse(run_program({"lint", a, b, "--error-format", "json"}).err);
  CHECK(mistakes.size() >= 2);
}

TEST_CASE("show prints values with their origin") {
  const Ran device = run_program({"show", "hardware/h100-sxm"});
  CHECK(device.code == 0);
  CHECK(holds(device.out, "hbm_bandwidth: 3.35 TB/s"));
  CHECK(holds(device.out, "; datasheet: "));
  CHECK(holds(device.out, "count: 1"));
  CHECK(holds(device.out, "# default"));
  CHECK(run_program({"show", "h100-sxm"}).out == device.out);
  const Ran model = run_program({"show", "model/llama-3.1-8b"});
  CHECK(run_program({"show", "models/llama-3.1-8b"}).out == model.out);  // by its folder too
  CHECK(holds(model.out, "32 heads of 128, 8 with keys and values"));
  CHECK(holds(model.out, "131,072 B"));  // 2 x 32 layers x 8 heads x 128 x 2 bytes
  CHECK(holds(run_program({"show", "workloads/chat-1k"}).out, "kind: poisson"));
  const Ran node = run_program({"show", "nodes/dgx-a100"});
  CHECK(holds(node.out, "port: 300 GB/s"));
  CHECK(run_program({"show", "dgx-a100"}).out == node.out);
  CHECK(holds(run_program({"show", "5g"}).out, "uplink: 12.5 MB/s"));
  CHECK(holds(run_program({"show", "tiers/cxl"}).out, "capacity: 1 TB"));
  CHECK(holds(run_program({"show", "hosts/xeon-8480-2s"}).out, "cores: "));
  const Ran scenario = run_program({"show", "examples/chat-h100/scenario.yaml"});
  CHECK(holds(scenario.out, "# preset hardware/h100-sxm"));
  CHECK(holds(scenario.out, "# examples/chat-h100/scenario.yaml:"));
  CHECK(holds(run_program({"show", "lama-3.1-8b"}).err, "did you mean 'llama-3.1-8b'?"));
}

TEST_CASE("show fields prints every table that it names") {
  std::istringstream names(run_program({"show", "fields"}).out);
  int tables = 0;
  for (std::string line; std::getline(names, line); ++tables) {
    if (tables < 2) continue;  // heading and rule
    const std::string name = line.substr(0, line.find(' '));
    CAPTURE(name);
    CHECK(run_program({"show", "fields", name}).code == 0);
  }
  CHECK(tables > 30);
  CHECK(holds(run_program({"show", "fields", "batcher"}).out, "batcher with policy: vllm_v1"));
  CHECK(run_program({"show", "fields", "stream"}).out.starts_with("streams with kind: lengths"));  // a workload's key
  CHECK(holds(run_program({"show", "fields", "batchr"}).err, "did you mean 'batcher'?"));
}

TEST_CASE("list knows each of its listings") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"devices", "h100-sxm"},   {"drams", "lpddr5x"},        {"models", "llama-3.1-8b"},  {"workloads", "chat-1k"},
      {"batchers", "vllm_v1"},   {"routers", "least_tokens"}, {"token_plans", "swiftkv"},  {"controllers", "autoscale"},
      {"arrivals", "poisson"},   {"streams", "infilling"},    {"metrics", "ttft_s"},       {"formats", "azure-csv"},
      {"hosts", "xeon-8480-2s"}, {"nodes", "dgx-h100"},       {"links", "infiniband-ndr"}, {"tiers", "nvme"},
  };
  for (const auto& [what, entry] : cases) {
    CAPTURE(what);
    const Ran ran = run_program({"list", what});
    CHECK(ran.code == 0);
    CHECK(holds(ran.out, entry));
    CHECK(ran.err == "");
  }
  CHECK(holds(run_program({"list", "device"}).err, "did you mean 'devices'?"));
  CHECK(holds(run_program({"list", "metrics", "--format", "markdown"}).out, "| inter_token_latency |"));
  // Of parts the figures, without tag and source.
  const auto markdown = [](const char* what) { return run_program({"list", what, "--format", "markdown"}).out; };
  CHECK(holds(markdown("nodes"), "| dgx-a100 | 8 | 300 GB/s | 2.5 us | 200 GB/s | 5 us |  |"));
  CHECK(holds(markdown("links"), "| infiniband-hdr | 25 GB/s | 2 us |"));
  CHECK(holds(markdown("tiers"), "| nvme | 15 TB | 48 GB/s | 24 GB/s | 100 us |  | node |"));
}

TEST_CASE("a trace is described, converted and cut") {
  const Scratch scratch;
  const std::string trace = scratch.file("t.csv", kTrace), ours = scratch.path("t.jsonl.gz"),
                    cut = scratch.path("cut.jsonl");
  const Ran described = run_program({"trace", "describe", trace});
  CHECK(described.code == 0);
  CHECK(holds(described.out, "azure-csv"));
  REQUIRE(run_program({"trace", "convert", trace, "-o", ours, "--speedup", "2"}).code == 0);
  CHECK(run_program({"lint", ours}).code == 0);
  REQUIRE(run_program({"trace", "slice", ours, "-o", cut, "--from", "0.5 s", "--rebase"}).code == 0);
  CHECK(holds(scratch.content("cut.jsonl"), R"({"arrival_s": 0, "prompt_tokens": 200, "output_tokens": 20})"));
  CHECK(holds(scratch.content("cut.jsonl"), R"({"arrival_s": 1, "prompt_tokens": 300, "output_tokens": 30})"));
  CHECK(run_program({"trace", "slice", ours, "-o", "-", "--from", "0.5 s", "--rebase"}).out ==
        scratch.content("cut.jsonl"));
  CHECK(holds(run_program({"trace", "slice", ours, "-o", cut, "--from", "5"}).err, "--from: error: "));
  CHECK(run_program({"trace", "convert", trace, "-o", ours, "--rebase"}).code == 2);  // counts from the first already
}

TEST_CASE("a command line of vLLM becomes a scenario that is good") {
  const Scratch scratch;
  const std::string file = scratch.path("s.yaml");
  const Ran ran = run_program({"import", "vllm",
                               "python -m vllm.entrypoints.openai.api_server --model "
                               "'Qwen/Qwen3-30B-A3B-Instruct-2507' -tp 2 --data_parallel_size=2 "
                               "--enable-expert-parallel --max-model-len 32K --max-num-seqs 128 --kv-cache-dtype fp8 "
                               "--port 8000 --enforce-eager "
                               "--no-enable-prefix-caching --attention-backend X",
                               "--device", "h200", "-o", file});
  CHECK(ran.code == 0);
  CHECK(holds(ran.err, "'--attention-backend' is not modelled"));
  CHECK(holds(ran.err, "no --workload given: chat-1k"));
  CHECK(holds(ran.err, "assumed: 2507 of 'Qwen/Qwen3-30B-A3B-Instruct-2507' is taken for the qwen3-30b-a3b"));
  CHECK_FALSE(holds(ran.err, "'--port'"));
  const std::string text = scratch.content("s.yaml");
  for (const char* part : {"preset: qwen3-30b-a3b", "kv: fp8", "{preset: h200, count: 4}", "tensor_parallel: 2",
                           "data_parallel: 2", "expert_parallel: 4", "max_model_len: 32768", "max_num_seqs: 128",
                           "cuda_graphs: false", "enable_prefix_caching: false"})
    CHECK_MESSAGE(holds(text, part), part);
  const Ran lint = run_program({"lint", file});
  CHECK_MESSAGE(lint.code == 0, lint.err);
}

TEST_CASE("does import keep what a command of vLLM says?") {
  const Scratch scratch;
  const std::string file = scratch.path("s.yaml");
  const auto imported = [&](const std::string& command, const std::vector<std::string>& parts) {
    CAPTURE(command);
    const Ran ran = run_program({"import", "vllm", command, "--device", "h200", "-o", file});
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    const std::string text = scratch.content("s.yaml");
    CAPTURE(text);
    for (const std::string& part : parts) CHECK_MESSAGE(holds(text, part), part);
    const Ran lint = run_program({"lint", file});
    CHECK_MESSAGE(lint.code == 0, lint.err);
    return ran.err;
  };
  CHECK(holds(imported("vllm serve RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic -tp 2",
                       {"preset: llama-3.1-70b", "weights: fp8"}),
              "weights in fp8"));
  imported(
      "docker run --runtime nvidia --gpus all -v ~/.cache:/root/.cache --env \"HF_TOKEN=x\" -p 8000:8000 "
      "--ipc=host vllm/vllm-openai:latest --model Qwen/Qwen2.5-7B-Instruct-AWQ --max-num-seqs 64",
      {"preset: qwen2.5-7b", "weights: int4", "max_num_seqs: 64"});
  imported("vllm serve meta-llama/Llama-3.1-8B --dtype float32", {"activations: fp32", "weights: fp32", "kv: fp32"});
  imported("vllm serve meta-llama/Llama-3.1-8B --dtype float32 --quantization fp8 --kv-cache-dtype fp8",
           {"activations: fp32", "weights: fp8", "kv: fp8"});
  // Three passes of one of 32 layers: 3 / 32.
  const std::string drafts = imported(
      "vllm serve meta-llama/Llama-3.1-8B-Instruct --speculative-config '{\"method\": \"eagle3\", "
      "\"model\": \"x/EAGLE3\", \"num_speculative_tokens\": 3}'",
      {"speculation:", "tokens: 3", "share: 0.09375"});
  CHECK(holds(drafts, "assumed: 0.7 of the drafts accepted"));
  imported(
      "vllm serve meta-llama/Llama-3.1-8B-Instruct --speculative-config.method ngram "
      "--speculative-config.num_speculative_tokens=4",
      {"tokens: 4"});
  imported(
      "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --speculative-config '{\"model\": "
      "\"meta-llama/Llama-3.2-1B\", \"num_speculative_tokens\": 5}'",
      {"model: llama-3.2-1b"});
  imported("vllm serve meta-llama/Llama-3.1-8B --enable-lora --max-loras 4 --max-lora-rank 32 --lora-modules a=b c=d",
           {"rank: 32", "adapters: 2", "resident: 4"});
  // 64 GiB = 68,719,476,736 bytes, over two links of 50 GB/s.
  imported("vllm serve meta-llama/Llama-3.1-8B -tp 2 --kv-offloading-size 64",
           {"kv_tiers:", "68719476736 B", "100 GB/s"});
  CHECK(holds(imported("vllm serve meta-llama/Llama-3.1-8B --kv-transfer-config '{\"kv_connector\": "
                       "\"NixlConnector\", \"kv_role\": \"kv_both\"}'",
                       {}),
              "serving.pools"));
}

TEST_CASE("does import refuse what would mean something else?") {
  const std::string serve = "vllm serve Qwen/Qwen3-32B ";
  for (const auto& [flags, said] :
       {std::pair("-tp 8 -dcp 4", "decode context parallelism is not modelled"),
        std::pair("--prefill-context-parallel-size=2", "prefill context parallelism is not modelled"),
        std::pair("--cpu-offload-gb 20", "keeping weights in host memory is not modelled"),
        std::pair("--runner pooling", "does not generate text"),
        std::pair("--kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_producer\"}'",
                  "role: prefill"),
        std::pair("--speculative-config eagle", "is no JSON object"),
        std::pair("--speculative-config '{\"method\": \"dflash\"}'", "drafts of the method 'dflash'"),
        std::pair("--speculative-config '{\"method\": \"ngram\"}'", "'num_speculative_tokens'")}) {
    const Ran ran = run_program({"import", "vllm", serve + flags});
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(holds(ran.err, said));
  }
  CHECK(run_program({"import", "vllm", serve + "-dcp 1 -pcp 1 --cpu-offload-gb 0 --runner generate"}).code == 0);
}

TEST_CASE("what a command of vLLM gets wrong is pointed at") {
  const Ran ran = run_program({"import", "vllm", "vllm serve meta-llama/Llama-2-7b-chat-hf -tp two --max-num-sqs 3"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "vllm command:1:46: error: '-tp' must be a whole number from 1 to 1,000,000; got 'two'"));
  CHECK(holds(ran.err, "did you mean '--max-num-seqs'?"));
  const Ran client = run_program({"import", "vllm", "vllm bench serve --model Qwen/Qwen3-32B --request-rate 5"});
  CHECK(client.code == 2);
  CHECK(holds(client.err, "vllm command:1:12: error: 'vllm bench serve' is the client, which sends the load"));
  CHECK(holds(run_program({"import", "vllm", "vllm serve Qwen/Qwen3-32B --gpu-memory-utilization 90"}).err,
              "'--gpu-memory-utilization' must be above 0 and at most 1; got '90'"));
  CHECK(holds(run_program({"import", "vllm", "vllm serve acme/unheard-of"}).err,
              "no model of the catalogue is 'acme/unheard-of'"));
}

TEST_CASE("compare puts two results side by side and names the better one") {
  const Scratch scratch;
  const std::string file = scratch.file("s.yaml", small_scenario()), a = scratch.path("a"), b = scratch.path("b");
  REQUIRE(run_program({"run", file, "-o", a}).code == 0);
  REQUIRE(run_program({"run", file, "--set", "hardware.devices[0].hbm_bandwidth=600 GB/s", "-o", b}).code == 0);
  const Ran ran = run_program({"compare", a, b + "/run.json"});
  CHECK(ran.code == 0);
  std::istringstream lines(ran.out);
  bool tpot = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("tpot_s.mean")) continue;
    tpot = true;
    CHECK(line.ends_with(" B"));  // twice the bandwidth
    CHECK(holds(line, " 0.5"));   // a decode at batch 1 waits for the weights alone
  }
  CHECK(tpot);
  CHECK(holds(run_program({"compare", a, a}).out, "same"));
}

}  // namespace llmscape::test::verbs_test
