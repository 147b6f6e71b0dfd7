// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_reader.hpp"
#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using test::messages, test::tree;

namespace {

const std::string kScenario = R"(workload: {rate: 1 /s}
hardware:
  devices: [{name: gpu, count: 1}, {name: edge.1, count: 2}]
model: qwen3-8b
serving:
)";

std::string overridden(const std::string& assignment) {
  Diagnostics diagnostics;
  YamlNode root = tree(kScenario);
  apply_override(root, assignment, diagnostics);
  CHECK(messages(diagnostics) == "");
  return write_yaml(root);
}

// The messages of a refused override, which must leave the tree as it was.
std::string refused(const std::string& assignment) {
  Diagnostics diagnostics;
  YamlNode root = tree(kScenario);
  apply_override(root, assignment, diagnostics);
  CHECK(write_yaml(root) == write_yaml(tree(kScenario)));
  return messages(diagnostics);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an override replaces the value that its path leads to") {
  CHECK(has(overridden("workload.rate=12 /s"), "workload: {rate: 12 /s}"));
  CHECK(has(overridden("hardware.devices[gpu].count=4"), "- {name: gpu, count: 4}"));
  CHECK(has(overridden("hardware.devices[edge.1].count=4"), "- {name: edge.1, count: 4}"));
  CHECK(has(overridden("hardware.devices[1].count=4"), "- {name: edge.1, count: 4}"));
  CHECK(has(overridden("hardware[devices]=[]"), "devices: []"));
  CHECK(has(overridden("model={preset: x, note: \"a=b\"}"), "model: {preset: x, note: \"a=b\"}"));
  CHECK(has(overridden("workload.rate="), "workload: {rate: null}"));
}

TEST_CASE("an item without a name is called as the preset that it is laid over") {
  YamlNode root = tree("devices: [{preset: h100, count: 1}, {name: edge, preset: cim, count: 1}]");
  Diagnostics diagnostics;
  apply_override(root, "devices[h100].count=4", diagnostics);
  apply_override(root, "devices[edge].count=5", diagnostics);
  CHECK(messages(diagnostics) == "");
  CHECK(root.find("devices")->items[0].find("count")->text == "4");
  CHECK(root.find("devices")->items[1].find("count")->text == "5");
  apply_override(root, "devices[cim].count=6", diagnostics);  // that one has a name of its own
  CHECK(has(messages(diagnostics), "has no item 'cim'"));
}

TEST_CASE("an override adds keys that mappings lack") {
  CHECK(has(overridden("workload.rte=3"), "workload: {rate: 1 /s, rte: 3}"));
  CHECK(has(overridden("serving.batcher.max_num_seqs=64"), "serving:\n  batcher: {max_num_seqs: 64}"));
  CHECK(has(overridden("slo.ttft=150 ms"), "slo: {ttft: 150 ms}"));
}

TEST_CASE("a path that cannot exist names the deepest part that does") {
  CHECK(refused("hardware.devices[gpv].count=4") == "1:18 'hardware.devices' has no item 'gpv'; did you mean 'gpu'?");
  CHECK(refused("hardware.devices[2].count=4") == "1:18 'hardware.devices' has no item '2'");
  CHECK(refused("hardware.devices.count=4") == "1:18 'hardware.devices' is a list: [name] or [number] chooses an item");
  CHECK(refused("workload[gpu].count=4") == "1:10 'workload' has no item 'gpu'");
  CHECK(refused("serving[gpu]=4") == "1:9 'serving' has no item 'gpu'");
  CHECK(refused("model.weights.group=4") == "1:7 'model' is 'qwen3-8b' and holds no 'weights'");
}

TEST_CASE("what is no PATH=VALUE is refused where it breaks off") {
  const std::string said = " an override is written PATH=VALUE; for example workload.rate=12/s";
  CHECK(refused("workload.rate") == "1:14" + said);
  CHECK(refused("=3") == "1:1" + said);
  CHECK(refused("") == "1:1" + said);
  CHECK(refused("workload..rate=3") == "1:10" + said);
  CHECK(refused(".rate=3") == "1:1" + said);
  CHECK(refused("workload.=3") == "1:10" + said);
  CHECK(refused("hardware.devices[gpu=3") == "1:18" + said);
  CHECK(refused("hardware.devices[]=3") == "1:18" + said);
}

TEST_CASE("an overridden value comes from --set and its places point into what was typed") {
  Diagnostics diagnostics;
  YamlNode root = tree(kScenario);
  apply_override(root, "workload.rte={mean: 3}", diagnostics);
  const auto& entry = root.find("workload")->entries.at(1);
  CHECK(entry.value.origin == "--set");
  CHECK(entry.value.find("mean")->origin == "--set");
  diagnostics.error(entry.key_where, "unknown key 'rte'");
  diagnostics.error(entry.value.find("mean")->where, "too small");
  CHECK(diagnostics.text(false) ==
        "--set workload.rte={mean: 3}:1:10: error: unknown key 'rte'\n"
        "    1 | workload.rte={mean: 3}\n"
        "      |          ^~~\n"
        "--set workload.rte={mean: 3}:1:21: error: too small\n"
        "    1 | workload.rte={mean: 3}\n"
        "      |                     ^\n"
        "2 errors. Nothing was run.\n");
}

TEST_CASE("a value that is no YAML is reported where it stands in the assignment") {
  Diagnostics diagnostics;
  YamlNode root = tree(kScenario);
  apply_override(root, "workload.rate={a: 1, a: 2}", diagnostics);
  CHECK(messages(diagnostics) == "1:22 duplicate key 'a'");
}

TEST_CASE("an override of an item of a list that a preset brings later is laid on that item") {
  Diagnostics diagnostics;
  YamlNode over = tree("{preset: l4}");
  apply_override(over, "links.rows[1].latency=5 us", diagnostics);
  apply_override(over, "links.rows[far].latency=9 us", diagnostics);
  CHECK(diagnostics.text(false).empty());
  const YamlNode preset =
      tree("{links: {rows: [{latency: 1 us, ranks: 2}, {latency: 2 us, ranks: 4}, {name: far, latency: 3 us}]}}");
  const YamlNode both = merge(preset, over);
  const auto& rows = both.find("links")->find("rows")->items;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].find("latency")->text == "1 us");
  CHECK(rows[1].find("latency")->text == "5 us");
  CHECK(rows[1].find("ranks")->text == "4");
  CHECK(rows[2].find("latency")->text == "9 us");
  // No item of it: a mapping stays where a list is due, and is told.
  YamlNode beyond = tree("{preset: l4}");
  apply_override(beyond, "links.rows[3].latency=5 us", diagnostics);
  CHECK(merge(preset, beyond).find("links")->find("rows")->is_mapping());
  CHECK_FALSE(diagnostics.has_errors());
  YamlNode alone = tree("{}");  // no preset is to come
  apply_override(alone, "links.rows[3].latency=5 us", diagnostics);
  CHECK(diagnostics.has_errors());
}
