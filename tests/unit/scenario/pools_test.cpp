// SPDX-License-Identifier: Apache-2.0
// Pools with roles, and the links between the places where their devices stand.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string apart(
    const std::string& pools = "[{devices: [prompts], role: prefill}, {devices: [tokens], role: decode}]") {
  return "schema: scenario/1\n"
         "model: llama-3.1-8b\n"
         "hardware:\n"
         "  devices: [{name: prompts, preset: h100-sxm, count: 2}, {name: tokens, preset: h100-sxm, count: 2}]\n"
         "  fabric:\n"
         "    groups: {prompts: {node: dgx-h100, site: cloud}, tokens: {node: dgx-h100, site: shop}}\n"
         "    sites: {cloud: {uplink: 10 Gbit/s, latency: 20 ms}, shop: {uplink: 10 Gbit/s, latency: 20 ms}}\n"
         "serving:\n"
         "  first_token: prefill\n"
         "  pools: " +
         pools +
         "\n"
         "workload: {requests: 200, arrivals: {kind: poisson, rate: 2 /s}, stream: {kind: lengths, prompt: {kind: "
         "fixed, "
         "value: 2000}, output: {kind: fixed, value: 50}}}\n";
}

}  // namespace

TEST_CASE("every prompt's KV entries cross both sites' uplinks once, and no link carries more than it can") {
  const auto result = run_on_event_queue(*scenario_of(apart()));
  CHECK(result.requests.completed == 200);
  const double bytes = 200.0 * 2000 * 131072;
  int sites = 0;
  for (const auto& link : result.links) {
    CHECK(link.use <= 1);
    if (!link.name.starts_with("site")) continue;
    ++sites;
    CHECK(link.bytes == approx(bytes));
    CHECK(link.use == approx(bytes / (1.25e9 * result.simulated_s)));
  }
  CHECK(sites == 2);  // out of one, into the other
}

TEST_CASE("a KV transfer over a slow link delays the second token, not the first") {
  const auto near = run_on_event_queue(*scenario_of(
      apart(), {"hardware.fabric.sites.cloud.uplink=1000 Gbit/s", "hardware.fabric.sites.shop.uplink=1000 Gbit/s"}));
  const auto far = run_on_event_queue(*scenario_of(apart()));
  CHECK(far.latency["ttft_s"]->p50 == approx(near.latency["ttft_s"]->p50).epsilon(0.01));
  // 262 MB at 1.25 GB/s, less the prompt's own time, spread over 49 gaps.
  CHECK(far.latency["tpot_s"]->p50 - near.latency["tpot_s"]->p50 > 0.1 / 49);
}

TEST_CASE("while an uplink is down the decoders compute prompts themselves, and nothing is lost") {
  std::string yaml = apart();
  const std::string site = "cloud: {uplink: 10 Gbit/s, latency: 20 ms";
  yaml.replace(yaml.find(site), site.size(),
               site + ", profile: [{at: 20 s, uplink: 0 B/s}, {at: 60 s, uplink: 5 Gbit/s}]");
  const auto scenario = scenario_of(yaml);
  REQUIRE(scenario);
  const auto whole = run_on_event_queue(*scenario_of(apart())), broken = run_on_event_queue(*scenario);
  CHECK(broken.requests.completed == 200);
  // Some 80 of 200 requests came while it was down; each prompt was computed once more.
  CHECK(whole.tokens.recomputed == 0);
  CHECK(broken.tokens.recomputed / 2000 > 60);
  CHECK(broken.tokens.recomputed / 2000 < 100);
  const auto simgrid = nlohmann::json::parse(json_on_simgrid(*scenario));
  CHECK(simgrid["tokens"]["recomputed"].get<double>() ==
        approx(static_cast<double>(broken.tokens.recomputed)).epsilon(0.02));
}

TEST_CASE("SimGrid and the bare event queue agree on a run whose transfers contend") {
  const auto scenario = scenario_of(apart(), {"workload.arrivals.rate=4 /s"});
  const auto fluid = run_on_event_queue(*scenario);
  const auto simgrid = nlohmann::json::parse(json_on_simgrid(*scenario));
  CHECK(simgrid["requests"]["completed"] == 200);
  CHECK(simgrid["latency"]["e2e_s"]["p99"].get<double>() == approx(fluid.latency["e2e_s"]->p99).epsilon(1e-6));
  CHECK(simgrid["latency"]["tpot_s"]["mean"].get<double>() == approx(fluid.latency["tpot_s"]->mean).epsilon(1e-6));
}

TEST_CASE("a pool's engine is that of 'serving' but for what it says itself") {
  const auto scenario = scenario_of(
      apart("[{devices: [prompts], role: prefill, batcher: {policy: vllm_v1, max_num_batched_tokens: 4096}}, "
            "{devices: [tokens], role: decode}]"),
      {"serving.block_size=32", "serving.batcher.max_num_seqs=64"});
  REQUIRE(scenario);
  CHECK(scenario->pools[0].block_size == 32);
  CHECK(scenario->pools[0].batcher->max_tokens() == 4096);
  CHECK(scenario->pools[1].batcher->max_sequences() == 64);
}

TEST_CASE("and so inside its batcher and its engine, where they are of the same kind") {
  const auto scenario = scenario_of(apart("[{devices: [prompts], role: prefill, batcher: {policy: vllm_v1, "
                                          "max_num_seqs: 8}}, {devices: [tokens], role: "
                                          "decode, engine: {stream_interval: 5}}]"),
                                    {"serving.batcher={policy: vllm_v1, max_num_batched_tokens: 512, max_num_seqs: "
                                     "100, enable_prefix_caching: false}",
                                     "serving.engine={name: vllm, version: \"0.12\"}"});
  CHECK(scenario->pools[0].batcher->max_sequences() == 8);
  CHECK(scenario->pools[0].batcher->max_tokens() == 512);
  CHECK_FALSE(scenario->pools[0].batcher->prefix_caching());
  CHECK(scenario->pools[1].engine.version == "0.12");
  CHECK(scenario->pools[1].engine.stream_interval == 5);
  // Nothing of another policy.
  const auto other = scenario_of(
      apart("[{devices: [prompts], role: prefill, batcher: {policy: trtllm}, engine: {name: tensorrt_llm}}, {devices: "
            "[tokens], role: decode}]"),
      {"serving.batcher={policy: vllm_v1, max_num_seqs: 100}", "serving.engine={name: vllm, version: \"0.12\"}"});
  CHECK(other->pools[0].batcher->max_sequences() != 100);
  CHECK(other->pools[0].engine.version != "0.12");
  CHECK(other->pools[1].batcher->max_sequences() == 100);
}

TEST_CASE("pools that cannot work are refused with a reason") {
  CHECK(holds(mistakes(apart("[{devices: [prompts], role: prefill}, {devices: [tokens], role: prefill}]")),
              "a prefill pool needs a decode pool"));
  CHECK(holds(mistakes(apart("[{devices: [prompts], role: prefill}, {devices: [tokns], role: decode}]")),
              "there is no group of devices 'tokns'"));
  CHECK(holds(mistakes(apart("[{devices: [prompts, tokens], role: prefill}, {devices: [tokens], role: decode}]")),
              "'tokens' is in 2 pools"));
  CHECK(holds(mistakes(apart("[{devices: [prompts]}]")), "'tokens' is in 0 pools"));
  std::string unplaced = apart();
  unplaced.replace(unplaced.find("tokens: {node: dgx-h100, site: shop}"), 36, "");
  CHECK(holds(mistakes(unplaced), "hardware.fabric.groups has to say where 'tokens' stands"));
  std::string nowhere = apart();
  nowhere.replace(nowhere.find("site: shop"), 10, "site: shp");
  CHECK(holds(mistakes(nowhere), "'tokens' stands at a site 'shp' that is not in 'sites'"));
}

TEST_CASE("two models are served by pools of their own, each with its share of the calls") {
  const std::string scenario =
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "models: {small: {preset: llama-3.2-1b, weights: fp8}}\n"
      "hardware: {devices: [{name: big, preset: h100-sxm}, {name: little, preset: l4, count: 2}]}\n"
      "serving:\n"
      "  max_model_len: 8192\n"
      "  pools: [{devices: [big]}, {devices: [little], model: small, batcher: {policy: vllm_v1, max_num_seqs: 16}}]\n"
      "workload:\n"
      "  requests: 400\n"
      "  arrivals: {kind: poisson, rate: 4 /s}\n"
      "  mixture:\n"
      "    - {stream: {kind: lengths, prompt: {kind: fixed, value: 300}, output: {kind: fixed, value: 20}}}\n"
      "    - {weight: 3, model: small, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: "
      "fixed, "
      "value: 10}}}\n";
  const auto result = run_on_event_queue(*scenario_of(scenario));
  CHECK(result.requests.completed == 400);
  REQUIRE(result.pools.size() == 2);
  const auto &big = result.pools[0], &little = result.pools[1];
  CHECK(big.name == "big");
  CHECK(little.model == "llama-3.2-1b");
  CHECK(big.prefill_tokens / 300 + little.prefill_tokens / 100 == 400);
  CHECK(static_cast<double>(little.prefill_tokens / 100) == approx(300).epsilon(0.1));
  CHECK(little.decode_tokens == little.prefill_tokens / 100 * 9);
  CHECK(big.busy > 0);
  CHECK(little.busy < 1);
}

TEST_CASE("models, pools and classes that do not go together are told apart") {
  const auto with = [](const std::string& models, const std::string& pools) {
    return "schema: scenario/1\nmodel: llama-3.2-1b\n" + models +
           "hardware: {devices: [{name: a, preset: h100-sxm}, {name: b, preset: h100-sxm}]}\n"
           "serving: {pools: " +
           pools +
           "}\n"
           "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: "
           "fixed, "
           "value: 2}, output: {kind: fixed, value: 1}}}\n";
  };
  CHECK(holds(mistakes(with("models: {small: llama-3.2-1b}\n", "[{devices: [a]}, {devices: [b]}]")),
              "no pool serves 'small'"));
  CHECK(holds(mistakes(with("models: {small: llama-3.2-1b}\n", "[{devices: [a]}, {devices: [b], model: smal}]")),
              "did you mean 'small'?"));
  CHECK(holds(mistakes(with("models: {small: llama-3.2-1b}\n", "[{devices: [a, b], model: small}]")),
              "no pool serves 'model'"));
  CHECK(holds(mistakes(with("models: {small: llama-9}\n", "[{devices: [a, b], model: small}]")), "llama-9"));
  CHECK(holds(mistakes(with("", "[{devices: [a]}, {devices: [b], accepts: {classes: [quick]}}]")),
              "'slo.classes' has no 'quick'"));
  CHECK(holds(mistakes(with("", "[{devices: [a]}, {devices: [b], accepts: {longer_than: 5, up_to: 5}}]")),
              "no prompt is longer"));
}

TEST_CASE("a call for another model waits for its weights: 16.06 GB on 8 sockets at 200 GB/s each are 10.04 ms") {
  const auto scenario = [](const std::string& turns, const std::string& more = "") {
    return scenario_of(
        "schema: scenario/1\n"
        "model: llama-3.1-8b\n"
        "models: {twin: llama-3.1-8b}\n"
        "hardware: {devices: [{name: rack, preset: sn40l, count: 8}]}\n"
        "serving: {tensor_parallel: 8, max_model_len: 4096" +
        more +
        ", pools: [{devices: [rack], models: [main, twin], "
        "take_turns: "
        "{" +
        turns +
        "}}]}\n"
        "workload:\n"
        "  requests: 1\n"
        "  arrivals: {kind: poisson, rate: 1 /s}\n"
        "  mixture: [{model: twin, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, "
        "value: "
        "2}}}]\n");
  };
  const auto loaded = run_on_event_queue(*scenario("load_bandwidth: 200 GB/s"));
  const auto resident = run_on_event_queue(*scenario("resident: 2"));
  CHECK(loaded.latency["ttft_s"]->mean - resident.latency["ttft_s"]->mean == approx(0.01004).epsilon(0.001));
  CHECK(loaded.pools[1].loads == 1);
  CHECK(loaded.pools[1].loading_s == approx(0.01004).epsilon(0.001));
  CHECK(loaded.pools[0].loads == 0);
  CHECK(resident.pools[1].loads == 0);
  REQUIRE(loaded.turns);
  CHECK(loaded.turns->loads == 1);
  CHECK(loaded.turns->load_s == approx(0.01004).epsilon(0.001));
  CHECK(resident.turns->loads == 0);
  // Heads that draft come with them: 0.05 of 16.06 GB more are 10.54 ms.
  const auto heads = run_on_event_queue(
      *scenario("load_bandwidth: 200 GB/s", ", speculation: {tokens: 2, acceptance: 0.8, draft: {share: 0.05}}"));
  CHECK(heads.turns->load_s == approx(1.05 * 16.06e9 / (8 * 200e9)).epsilon(0.001));
  CHECK(loaded.kv.blocks > resident.kv.blocks);  // two models' weights take memory
}

// DeepSeek-V2-Lite has 27 layers with latents of 512 + 64 numbers: 31,104 bytes a token, 31.1 MB of a prompt of 1,000.
TEST_CASE("a decoder whose attention is shared by several devices gets the entries that each of them holds") {
  const auto sent = [](int devices, const std::string& model) {
    const auto run = run_on_event_queue(*scenario_of(
        "schema: scenario/1\n"
        "model: " +
        model +
        "\n"
        "hardware:\n"
        "  devices:\n"
        "    - {name: p, preset: h100-sxm, count: 1}\n"
        "    - {kind: attention_offload, name: d, attention: {preset: h100-sxm, count: " +
        std::to_string(devices) +
        "}, weights: h200, link: {bandwidth: 100 GB/s, latency: 0 s, energy: 10 pJ/bit}}\n"
        "  fabric: {groups: {p: {node: dgx-h100}, d: {node: dgx-h100}}}\n"
        "serving: {max_model_len: 4096, pools: [{devices: [p], role: prefill}, {devices: [d], role: decode}]}\n"
        "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: fixed, "
        "value: 1000}, output: {kind: fixed, value: 11}}}\n"));
    REQUIRE_FALSE(run.links.empty());
    return run.links.front().bytes;
  };
  CHECK(sent(1, "deepseek-v2-lite") == approx(31.104e6));
  CHECK(sent(2, "deepseek-v2-lite") == approx(62.208e6));
  // Eight KV heads are cut over two, and 16 devices hold each twice.
  CHECK(sent(2, "llama-3.1-8b") == approx(131.072e6));
  CHECK(sent(16, "llama-3.1-8b") == approx(262.144e6));
}

TEST_CASE("devices that ran no step were in use for 0 % of the time, and are told") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "models: {twin: llama-3.1-8b}\n"
      "hardware: {devices: [{name: spare, preset: h100-sxm, count: 1}, {name: used, preset: h100-sxm, count: 1}]}\n"
      "serving: {max_model_len: 4096, pools: [{devices: [spare]}, {devices: [used], model: twin}]}\n"
      "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, mixture: [{model: twin, stream: {kind: lengths, "
      "prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 2}}}]}\n");
  const auto run = run_on_event_queue(*scenario);
  REQUIRE(run.utilisation.size() == 2);
  CHECK(run.utilisation[0].group == "spare");
  CHECK(run.utilisation[0].busy == 0);
  CHECK(run.utilisation[0].parts.empty());
  CHECK(run.utilisation[1].busy > 0);
}

TEST_CASE("what goes from rack to rack crosses both racks' uplinks; within a rack it does not") {
  const auto links = [](const std::string& racks) {
    std::string scenario = apart();
    const auto at = scenario.find("dgx-h100, site: cloud");
    scenario.replace(at, 21, "{preset: dgx-h100, devices: 1}, site: shop" + racks);
    return run_on_event_queue(*scenario_of(scenario)).links;
  };
  const auto carried = [](const std::vector<result::LinkResult>& all, const std::string& name) {
    double bytes = 0;
    for (const auto& link : all)
      if (link.name.starts_with(name)) bytes += link.bytes;
    return bytes;
  };
  const double bytes = 200.0 * 2000 * 131072;
  CHECK(carried(links(""), "rack") == 0);
  const auto racks = links(", rack: {preset: infiniband-ndr, nodes: 1}");  // of the prompts only: one for each node
  CHECK(carried(racks, "rack 0 of prompts") + carried(racks, "rack 1 of prompts") == approx(bytes));
  CHECK(carried(racks, "rack 1 of prompts") > 0);
  CHECK(carried(racks, "site") == 0);
}
