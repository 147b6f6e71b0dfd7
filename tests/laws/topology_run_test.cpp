// SPDX-License-Identifier: Apache-2.0
// Runs over topologies: collectives between nodes take what closed forms say while nobody is in the way, and longer
// over a narrower or a shared network.
#include <doctest/doctest.h>
#include <algorithm>
#include <string>
#include <vector>

#include "sim/result/metric_table.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace topology_run_test {

using namespace llmscape;
using namespace llmscape::testing;
using llmscape::testing::approx;

namespace {

// Llama-3.1-8B on two nodes of eight H100, alone.
const std::string kTwoNodes = R"(schema: scenario/1
model: {preset: llama-3.1-8b}
hardware:
  devices: [{name: g, preset: h100-sxm, count: 16}]
  fabric: {groups: {g: {node: dgx-h100}}}
serving: {tensor_parallel: 16}
workload:
  arrivals: {kind: closed_loop, users: 1, think: {kind: fixed, value: 0 s}}
  stream: {kind: lengths, prompt: {kind: fixed, value: 512}, output: {kind: fixed, value: 16}}
  requests: 4
seed: 1
)";

// Prompts on two nodes, tokens on two others, whose KV entries and collectives cross the same uplinks.
const std::string kPools = R"(schema: scenario/1
model: {preset: qwen3-30b-a3b}
hardware:
  devices: [{name: prompts, preset: h100-sxm, count: 16}, {name: tokens, preset: h100-sxm, count: 16}]
  fabric: {groups: {prompts: {node: dgx-h100}, tokens: {node: dgx-h100}}}
serving:
  data_parallel: 16
  expert_parallel: 16
  expert_exchange: all_to_all
  first_token: prefill
  kv_by_layer: false
  pools: [{devices: [prompts], role: prefill}, {devices: [tokens], role: decode}]
workload:
  arrivals: {kind: poisson, rate: 100 /s}
  stream: {kind: lengths, prompt: {kind: fixed, value: 2048}, output: {kind: fixed, value: 16}}
  requests: 60
seed: 1
)";

double figure(const result::RunResult& result, const std::string& metric) {
  const metrics::Column* column = metrics::find_column(metric);
  REQUIRE(column);
  return column->value(result).value();
}

Bytes carried(const result::RunResult& result, const std::string& link) {
  const auto found = std::ranges::find(result.links, link, &result::LinkResult::name);
  REQUIRE(found != result.links.end());
  return Bytes(found->bytes);
}

}  // namespace

TEST_CASE("collectives as flows take as long as their closed form where nobody is in the way") {
  const auto closed = run_on_event_queue(*scenario_of(kTwoNodes));
  const auto flows = run_on_event_queue(*scenario_of(kTwoNodes, {"hardware.collective_flows=true"}));
  for (const std::string metric : {"ttft.mean", "tpot.mean", "e2e.mean"}) {
    CAPTURE(metric);
    CHECK(figure(flows, metric) == approx(figure(closed, metric)).epsilon(1e-9));
  }
}

TEST_CASE("an uplink of half of what the devices send takes as long as devices that send half") {
  // Eight devices at 36 GB/s send 288 GB/s; an uplink of 144 GB/s is what eight at 18 GB/s fill.
  const auto narrow = run_on_event_queue(
      *scenario_of(kTwoNodes, {"hardware.collective_flows=true", "hardware.fabric.groups.g.node.uplink=144 GB/s"}));
  const auto slow =
      run_on_event_queue(*scenario_of(kTwoNodes, {"hardware.devices[0].links.domain.outer_bandwidth=18 GB/s"}));
  const auto closed = run_on_event_queue(*scenario_of(kTwoNodes));
  CHECK(figure(narrow, "ttft.mean") == approx(figure(slow, "ttft.mean")).epsilon(1e-9));
  CHECK(figure(narrow, "tpot.mean") == approx(figure(slow, "tpot.mean")).epsilon(1e-9));
  CHECK(figure(narrow, "ttft.mean") > 1.02 * figure(closed, "ttft.mean"));
}

// 312 W above idle while a kernel of an H100 runs: bytes that take longer over a tenth of the uplink than over the
// devices' own way out cost that for 16 devices, and nothing else.
TEST_CASE("a step that waits for bytes draws what a kernel draws, in a narrow network as through a narrow port") {
  const auto joules = [](const std::vector<std::string>& overrides) {
    return figure(run_on_event_queue(*scenario_of(kTwoNodes, overrides)), "total_joules");
  };
  const double narrow = joules({"hardware.collective_flows=true", "hardware.fabric.groups.g.node.uplink=28.8 GB/s"});
  const double slow = joules({"hardware.devices[0].links.domain.outer_bandwidth=3.6 GB/s"});
  CHECK(narrow == approx(slow).epsilon(1e-6));
  CHECK(narrow > 1.1 * joules({}));
}

TEST_CASE("an all-reduce over two nodes sends a tensor once each way, a gather of logits half of it") {
  const auto flows = run_on_event_queue(*scenario_of(kTwoNodes, {"hardware.collective_flows=true"}));
  // Two all-reduces a layer, of 4,096 elements of 2 bytes for each token; logits of each step.
  const double tokens = 4 * (512 + 15), steps = 4 * 16;
  const double reduces = 2 * 32, hidden = 4096 * 2, logits = 128256 * 2;
  const Bytes sent(tokens * reduces * hidden + steps * logits / 2);
  CHECK(carried(flows, "node 0 of g, out") / sent == approx(1).epsilon(1e-9));
  CHECK(carried(flows, "node 1 of g, out") / sent == approx(1).epsilon(1e-9));
}

// 32 ranks of Qwen3-30B-A3B on four nodes: 48 layers, hidden 2,048, 128 experts, 8 a token. One has a prompt of 4,000
// tokens, each of the others a dummy. A token goes to 4 (1 - C(96, 8) / C(128, 8)) nodes and back at 2 bytes, of
// which 3/4 are others.
TEST_CASE("a rank with a prompt sends it from its own node, and gets the outputs back from all") {
  const std::string lone = R"(schema: scenario/1
model: {preset: qwen3-30b-a3b}
hardware:
  devices: [{name: g, preset: h100-sxm, count: 32}]
  fabric: {groups: {g: {node: dgx-h100}}}
serving: {data_parallel: 32, expert_parallel: 32, expert_exchange: all_to_all, router: round_robin}
workload:
  arrivals: {kind: burst, programs: 1}
  stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, output: {kind: fixed, value: 1}}
seed: 1
)";
  const auto flows = run_on_event_queue(*scenario_of(lone, {"hardware.collective_flows=true"}));
  double none = 1;  // no expert of a token in a node
  for (int i = 0; i < 8; ++i) none *= (96.0 - i) / (128 - i);
  const double token = 2048 * 2 * 4 * (1 - none) * 48 * 3 / 4;
  CHECK(carried(flows, "node 0 of g, out").si() == approx((4007 + 8) * token));
  CHECK(carried(flows, "node 1 of g, out").si() == approx((8 + (4007 + 8 + 8) / 3.0) * token));
  CHECK(carried(flows, "node 0 of g, in").si() == approx((8 + 4007) * token));
  // All of it through the port of one device, as in the closed form.
  const auto closed = run_on_event_queue(*scenario_of(lone));
  CHECK(figure(flows, "ttft.mean") == approx(figure(closed, "ttft.mean")).epsilon(1e-9));
}

// 16 tensor ranks on nodes 0 and 1, a prompt of 4,000 tokens: two all-reduces of 4,000 x 2,048 x 2 B in each of 48
// layers go round two nodes, once the tensor each way: 1.573 GB. What the dummy on nodes 2 and 3 reduces is 1/4,000 of
// it. The tokens' way to the experts is as much out of node 0 as out of node 1, and as much into them.
TEST_CASE("the ring of a rank's all-reduces lies in its own nodes") {
  const std::string ranks = R"(schema: scenario/1
model: {preset: qwen3-30b-a3b}
hardware:
  devices: [{name: g, preset: h100-sxm, count: 32}]
  fabric: {groups: {g: {node: dgx-h100}}}
  collective_flows: true
serving: {tensor_parallel: 16, data_parallel: 2, expert_parallel: 32, expert_exchange: all_to_all, router: round_robin}
workload:
  arrivals: {kind: burst, programs: 1}
  stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, output: {kind: fixed, value: 1}}
seed: 1
)";
  const auto flows = run_on_event_queue(*scenario_of(ranks));
  const Bytes reduced(4000.0 * 2048 * 2 * 2 * 48);
  const Bytes out = carried(flows, "node 0 of g, out");
  CHECK(carried(flows, "node 0 of g, in") / out == approx(1).epsilon(1e-3));
  CHECK(carried(flows, "node 1 of g, in") / out == approx(1).epsilon(1e-3));
  // Nodes of the other rank get tokens for their experts alone.
  CHECK(carried(flows, "node 2 of g, in") < out - reduced);
  CHECK(carried(flows, "node 2 of g, in") / carried(flows, "node 3 of g, in") == approx(1).epsilon(1e-6));
}

// An all-reduce over two nodes is two messages one after another, and there are two in each of 32 layers; logits are
// gathered with one: 129 messages of 2 x 50 us and 3 x 1 us on their way where the closed form has 19, in every step.
TEST_CASE("a message between nodes takes the latency of its way where that is longer than the price says") {
  const std::string tree = "hardware.topology={kind: fat_tree, down: [1, 2], up: [1, 1], bandwidth: 1 TB/s, latency: ";
  const auto tpot = [&](const std::string& latency, const std::string& uplink) {
    return figure(
        run_on_event_queue(*scenario_of(kTwoNodes, {"hardware.collective_flows=true", tree + latency + "}",
                                                    "hardware.fabric.groups.g.node.uplink_latency=" + uplink})),
        "tpot.mean");
  };
  const double closed = figure(run_on_event_queue(*scenario_of(kTwoNodes)), "tpot.mean");
  CHECK(tpot("1 us", "5 us") == approx(closed).epsilon(1e-9));
  CHECK(tpot("1 us", "50 us") - closed == approx(129 * (104e-6 - 19e-6)).epsilon(1e-6));
}

TEST_CASE("replicas of one device send no collectives: they need no nodes, and flows change nothing but a warning") {
  const std::string alone = R"(schema: scenario/1
model: {preset: llama-3.2-1b}
hardware: {devices: [{name: g, preset: h100-sxm, count: 2}]}
workload:
  arrivals: {kind: poisson, rate: 20 /s}
  stream: {kind: lengths, prompt: {kind: fixed, value: 512}, output: {kind: fixed, value: 16}}
  requests: 20
seed: 1
)";
  const auto without = scenario_of(alone), with = scenario_of(alone, {"hardware.collective_flows=true"});
  CHECK(with->warnings.size() == without->warnings.size() + 1);
  CHECK(figure(run_on_event_queue(*with), "simulated_s") == figure(run_on_event_queue(*without), "simulated_s"));
  CHECK(json_on_simgrid(*with) == result::to_json(run_on_event_queue(*with)));
}

TEST_CASE("flows of collectives and KV transfers slow each other, and both clocks give the same bytes") {
  const std::vector<std::string> narrow = {"hardware.fabric.groups.tokens.node.uplink=30 GB/s",
                                           "hardware.fabric.groups.prompts.node.uplink=30 GB/s"};
  auto with_flows = narrow;
  with_flows.emplace_back("hardware.collective_flows=true");
  const auto apart = run_on_event_queue(*scenario_of(kPools, narrow));
  const auto scenario = scenario_of(kPools, with_flows);
  const auto shared = run_on_event_queue(*scenario);
  CHECK(figure(shared, "transfer_s") > 1.05 * figure(apart, "transfer_s"));
  CHECK(figure(shared, "tpot.mean") > 1.05 * figure(apart, "tpot.mean"));
  CHECK(result::to_json(shared) == json_on_simgrid(*scenario));
}

TEST_CASE("a run over each topology gives the same bytes on both clocks, at any look-ahead") {
  for (const std::string topology :
       {"{kind: fat_tree, down: [2, 2], up: [1, 1], bandwidth: 40 GB/s, latency: 1 us}",
        "{kind: rails, rails: 8, nodes: 4, bandwidth: 5 GB/s, latency: 1 us}",
        "{kind: torus, dimensions: [2, 2], bandwidth: 40 GB/s, latency: 1 us}",
        "{kind: dragonfly, groups: 2, chassis: 1, routers: 2, nodes: 1, bandwidth: 40 GB/s, latency: 1 us}"}) {
    CAPTURE(topology);
    const auto scenario = scenario_of(kPools, {"hardware.topology=" + topology, "hardware.collective_flows=true"});
    const auto result = run_on_event_queue(*scenario);
    CHECK(result.requests.completed == 60);
    CHECK(result::to_json(result) == json_on_simgrid(*scenario));
    CHECK(result::to_json(result) == result::to_json(run_on_event_queue(*scenario, 0)));
  }
}

TEST_CASE("a tree by its name is the tree of an absent key, to the byte") {
  const auto absent = scenario_of(kPools), named = scenario_of(kPools, {"hardware.topology={kind: tree}"});
  CHECK(result::to_json(run_on_event_queue(*absent)) == result::to_json(run_on_event_queue(*named)));
}

TEST_CASE("replicas of two nodes send KV entries over the uplinks of both, half over each") {
  // 327,680 bytes a token of Llama-3.1-70B, 8,000 tokens: 2.62 GB. Two of 16 ranks share a KV head, and each is sent
  // its own entries: twice that over 2 x 50 GB/s.
  const std::string pools = R"(schema: scenario/1
model: {preset: llama-3.1-70b}
hardware:
  devices: [{name: prompts, preset: h100-sxm, count: 16}, {name: tokens, preset: h100-sxm, count: 16}]
  fabric: {groups: {prompts: {node: {preset: dgx-h100, uplink: 50 GB/s}}, tokens: {node: {preset: dgx-h100, uplink: 50 GB/s}}}}
serving:
  tensor_parallel: 16
  kv_by_layer: false
  pools: [{devices: [prompts], role: prefill}, {devices: [tokens], role: decode}]
workload:
  arrivals: {kind: burst, programs: 1}
  stream: {kind: lengths, prompt: {kind: fixed, value: 8000}, output: {kind: fixed, value: 4}}
  requests: 1
seed: 1
)";
  const double bytes = 327680.0 * 8000, sent = 2 * bytes, alone = sent / 100e9;
  const auto longer_at_half = [&](std::vector<std::string> overrides) {  // by what half of the bandwidth adds
    const double fast = figure(run_on_event_queue(*scenario_of(pools, overrides)), "e2e.mean");
    for (const char* group : {"prompts", "tokens"})
      overrides.push_back(std::string("hardware.fabric.groups.") + group + ".node.uplink=25 GB/s");
    return figure(run_on_event_queue(*scenario_of(pools, overrides)), "e2e.mean") - fast;
  };
  const auto scenario = scenario_of(pools);
  const auto both = run_on_event_queue(*scenario);
  for (const std::string node : {"node 0 of prompts, out", "node 1 of prompts, out", "node 0 of tokens, in"})
    CHECK(carried(both, node).si() == approx(sent / 2).epsilon(1e-9));
  CHECK(longer_at_half({}) == approx(alone).epsilon(1e-6));
  CHECK(result::to_json(both) == json_on_simgrid(*scenario));
  // Half of what lies on two nodes goes to the eight devices of one node, over its one uplink.
  const std::vector<std::string> one_node = {"hardware.devices[1].count=8", "serving.pools[1].tensor_parallel=8"};
  const auto to_one = run_on_event_queue(*scenario_of(pools, one_node));
  CHECK(carried(to_one, "node 1 of prompts, out").si() == approx(bytes / 2).epsilon(1e-9));
  CHECK(carried(to_one, "node 0 of tokens, in").si() == approx(bytes).epsilon(1e-9));
  CHECK(longer_at_half(one_node) == approx(bytes / 50e9).epsilon(1e-6));
}

// 8,192 tokens of 131,072 B, 1.074 GB, from an H100 to one of another node: 21.5 ms at the 50 GB/s that are an eighth
// of the uplink, and 15 us over two ports and two uplinks. All eight of both nodes have the whole of it.
TEST_CASE("a replica leaves its node over the adapters of its own devices") {
  const auto moved = [](int devices, std::vector<std::string> overrides) {
    const std::string count = std::to_string(devices);
    for (const char* group : {"0", "1"})
      overrides.push_back(std::string("hardware.devices[") + group + "].count=" + count);
    overrides.push_back("serving.tensor_parallel=" + count);
    const auto scenario = scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware:
  devices: [{name: p, preset: h100-sxm}, {name: d, preset: h100-sxm}]
  fabric: {groups: {p: {node: dgx-h100}, d: {node: dgx-h100}}}
serving:
  first_token: prefill
  kv_by_layer: false
  max_model_len: 16384
  pools: [{devices: [p], role: prefill}, {devices: [d], role: decode}]
workload:
  arrivals: {kind: burst, programs: 1}
  stream: {kind: lengths, prompt: {kind: fixed, value: 8192}, output: {kind: fixed, value: 2}}
seed: 1
)",
                                      overrides);
    const auto run = run_on_event_queue(*scenario);
    CHECK(result::to_json(run) == json_on_simgrid(*scenario));
    return run;
  };
  const double bytes = 8192 * 131072.0, latency = 15e-6;
  const auto adapters = [](const result::RunResult& run) {
    return std::ranges::count_if(run.links, [](const auto& link) { return link.name.starts_with("adapters of"); });
  };
  const auto one = moved(1, {});
  CHECK(figure(one, "transfer_s") == approx(bytes / 50e9 + latency).epsilon(1e-9));
  CHECK(carried(one, "adapters of replica 0, out").si() == approx(bytes).epsilon(1e-9));
  CHECK(carried(one, "adapters of replica 1, in").si() == approx(bytes).epsilon(1e-9));
  CHECK(figure(moved(2, {}), "transfer_s") == approx(bytes / 100e9 + latency).epsilon(1e-9));
  const auto all = moved(8, {});
  CHECK(figure(all, "transfer_s") == approx(bytes / 400e9 + latency).epsilon(1e-9));
  CHECK(adapters(all) == 0);
  // A card that reaches all of the uplink, and one that reaches less of it than it could have.
  const auto of_all = [](const std::string& adapter) -> std::vector<std::string> {
    return {"hardware.fabric.groups.p.node.adapter=" + adapter, "hardware.fabric.groups.d.node.adapter=" + adapter};
  };
  CHECK(figure(moved(1, of_all("400 GB/s")), "transfer_s") == approx(bytes / 400e9 + latency).epsilon(1e-9));
  CHECK(figure(moved(8, of_all("20 GB/s")), "transfer_s") == approx(bytes / 160e9 + latency).epsilon(1e-9));
  // Rails divide the uplink between the devices themselves.
  const auto rails =
      moved(1, {"hardware.topology={kind: rails, rails: 8, nodes: 2, bandwidth: 50 GB/s, latency: 0 s}"});
  CHECK(figure(rails, "transfer_s") == approx(bytes / 50e9 + latency).epsilon(1e-9));
  CHECK(adapters(rails) == 0);
  // Where an adapter would carry less than the rail of its device, that is said.
  const auto warns = [](const std::string& adapter, const std::string& topology) {
    const auto scenario = scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices: [{name: p, preset: h100-sxm, count: 16}]\n"
        "  topology: " +
            topology +
            "\n  fabric: {groups: {p: {node: dgx-h100}}}\n"
            "workload: {preset: chat-1k, requests: 20}\nseed: 1\n",
        {"hardware.fabric.groups.p.node.adapter=" + adapter});
    return std::ranges::any_of(scenario->warnings, [](const std::string& text) {
      return text.find("'adapter' of the nodes of 'p' has no effect: with 8 rails each device reaches 50 GB/s") !=
             std::string::npos;
    });
  };
  const char* const eight = "{kind: rails, rails: 8, nodes: 2, bandwidth: 50 GB/s, latency: 0 s}";
  CHECK(warns("25 GB/s", eight));
  CHECK_FALSE(warns("50 GB/s", eight));
  CHECK_FALSE(warns("25 GB/s", "{kind: tree}"));
}

TEST_CASE("fast links that are said to reach past a node are named: closed forms know no nodes") {
  const auto warns = [](const std::vector<std::string>& overrides) {
    return std::ranges::any_of(scenario_of(kTwoNodes, overrides)->warnings, [](const std::string& sentence) {
      return sentence.find("collectives of 'g' that leave a node are priced as inside one") != std::string::npos;
    });
  };
  CHECK_FALSE(warns({}));  // those of an H100 reach eight
  CHECK(warns({"hardware.devices[0].links.domain.devices=16"}));
  CHECK_FALSE(warns({"hardware.devices[0].links.domain.devices=16", "serving.tensor_parallel=8"}));
}

}  // namespace topology_run_test
