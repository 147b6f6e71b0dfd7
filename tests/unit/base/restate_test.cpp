// SPDX-License-Identifier: Apache-2.0
// A tree is brought to say what a struct holds; what says so already keeps its words.
#include "base/restate.hpp"

#include <doctest/doctest.h>

#include "tests/unit/base/machine_fields.hpp"
#include "tests/unit/base/reading.hpp"

using namespace llmscape;
using test::Air, test::Machine, test::machine_fields, test::tree, test::Water;
using Lines = std::vector<std::string>;

namespace {

constexpr const char* kText =
    "label: 'rack 7'\nnamed: {a: {bandwidth: 0.5 TB/s}}\nspares: [{bandwidth: 300 GB/s}]\n"
    "gpu: {bandwidth: 1024 GiB/s, lanes: 16, efficiency: 0.7}\n";

Machine machine(const std::string& text) {
  Machine machine;
  Diagnostics diagnostics;
  machine_fields().read(machine, tree(text), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return machine;
}

struct Restated {
  std::string text;
  Lines differences;
};

Restated restated(const Machine& machine) {
  YamlNode root = tree(kText);
  Lines differences = restate(root, machine_fields().write(machine), machine_fields().info());
  return {write_yaml(root), std::move(differences)};
}

}  // namespace

TEST_CASE("a tree that says it already keeps units, quotes and places, and is completed") {
  YamlNode root = tree(kText);
  CHECK(restate(root, machine_fields().write(machine(kText)), machine_fields().info()).empty());
  YamlNode complete = tree(kText);
  fill_defaults(complete, machine_fields().info());
  CHECK(write_yaml(root) == write_yaml(complete));
  CHECK(root.find("gpu")->find("bandwidth")->text == "1024 GiB/s");
  CHECK(root.find("gpu")->find("bandwidth")->where.line == 4);
  CHECK(root.find("label")->quoted);
  CHECK(root.find("gpu")->find("efficiency")->text == "0.7");
}

TEST_CASE("what differs is written as the struct has it, and told of; all beside it stays") {
  Machine changed = machine(kText);
  changed.gpu.bandwidth = BytesPerSecond(2e12);
  const Restated one = restated(changed);
  CHECK(one.differences == Lines{"/gpu/bandwidth: 1024 GiB/s | 2 TB/s"});
  CHECK(one.text.find("bandwidth: 2 TB/s") != std::string::npos);
  CHECK(one.text.find("bandwidth: 0.5 TB/s") != std::string::npos);

  changed = machine(kText);
  changed.gpu.efficiency.tag = Tag::measured;
  CHECK(restated(changed).differences == Lines{"/gpu/efficiency: 0.7 | {value: 0.7, tag: measured}"});
  changed = machine(kText);
  changed.label = "rack 8";
  CHECK(restated(changed).differences == Lines{"/label: \"rack 7\" | rack 8"});
}

TEST_CASE("a number is the same in another unit to the last bit only") {
  Machine changed = machine(kText);
  CHECK(changed.gpu.bandwidth == BytesPerSecond(1024. * 1024 * 1024 * 1024));
  changed.gpu.bandwidth = BytesPerSecond(1024. * 1024 * 1024 * 1024 + 1. / 4096);
  CHECK(restated(changed).differences.size() == 1);
}

TEST_CASE("kinds, lists and maps that are others are replaced whole; back at a default, a value is the default") {
  Machine changed = machine(kText);
  changed.cooling = std::make_shared<Air>();
  CHECK(restated(changed).differences == Lines{"/cooling: {kind: water, flow: 2} | {kind: air, fans: 2}"});
  auto faster = std::make_shared<Water>();
  faster->flow = 3;
  changed.cooling = faster;
  CHECK(restated(changed).differences == Lines{"/cooling/flow: 2 | 3"});
  changed = machine(kText);
  changed.spares.push_back(changed.spares.front());
  changed.named.clear();
  const Restated two = restated(changed);
  REQUIRE(two.differences.size() == 2);
  CHECK(two.differences[0].starts_with("/spares: [{"));
  CHECK(two.differences[1].ends_with(" | {}"));
  CHECK(two.text.find("named: {}") != std::string::npos);
  changed = machine(kText);
  changed.gpu.lanes = 4;
  CHECK(restated(changed).differences == Lines{"/gpu/lanes: 16 | 4"});
}
