// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"

#include "tests/unit/base/machine_fields.hpp"
#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace llmscape;
using test::Machine, test::machine_fields, test::messages, test::read, test::tree;

namespace {

// A catalogue of its own: "gpus" has l4 and h100 (which starts from l4), two that go wrong, and a100, which has a
// figure with a source.
std::optional<YamlNode> load(std::string_view catalog, std::string_view name, const SourceRange& where,
                             Diagnostics& diagnostics) {
  const std::map<std::string, std::string, std::less<>> gpus = {{"l4", "bandwidth: 300 GB/s\nlanes: 8\n"},
                                                                {"h100", "preset: l4\nbandwidth: 3.35 TB/s\n"},
                                                                {"circle", "preset: circle\n"},
                                                                {"broken", "bandwidth: 3\n"},
                                                                {"a100",
                                                                 "bandwidth: 2 TB/s\nefficiency: {value: 0.7, "
                                                                 "tag: fitted, source: run 2}\n"}};
  const auto found = gpus.find(name);
  if (catalog == "gpus" && found != gpus.end()) return read(found->second, diagnostics, found->first + ".yaml");
  diagnostics.error(where, "no preset '" + std::string(name) + "'");
  return std::nullopt;
}

// The tree with its presets expanded, and what was said about it when it was read.
struct Expanded {
  YamlNode root;
  Diagnostics diagnostics;
  Machine machine;
};

Expanded expanded(const std::string& text) {
  Expanded out;
  out.root = read(text, out.diagnostics);
  expand_presets(out.root, machine_fields().info(), load, out.diagnostics);
  machine_fields().read(out.machine, out.root, out.diagnostics);
  return out;
}

}  // namespace

TEST_CASE("a bare scalar is spelled out as the preset or the kind that it names") {
  YamlNode root = tree("gpu: l4\nspares: [{lanes: 2}]\ncooling: water\n");
  spell_out(root, machine_fields().info());
  CHECK(write_yaml(root) == "gpu: {preset: l4}\nspares:\n  - {lanes: 2}\ncooling: {kind: water}\n");
  Diagnostics diagnostics;
  apply_override(root, "gpu.lanes=16", diagnostics);  // what spelling out is for
  CHECK(messages(diagnostics) == "");
  CHECK(write_yaml(root).starts_with("gpu: {preset: l4, lanes: 16}\n"));
}

TEST_CASE("fields without a kind belong to the kind that the field's default names") {
  YamlNode root = tree("cooling: {flow: 3}\n");
  spell_out(root, machine_fields().info());
  REQUIRE(root.find("cooling")->find("kind"));
  CHECK(root.find("cooling")->find("kind")->text == "water");
  YamlNode open = tree("cooling: {flow: 3}\ngpu: l4\n");
  spell_out_scalars(open, machine_fields().info());
  CHECK(write_yaml(open) == "cooling: {flow: 3}\ngpu: {preset: l4}\n");
}

TEST_CASE("a preset is replaced by its entry with the other keys laid over it") {
  const Expanded e = expanded("gpu: {preset: l4, lanes: 16}\nspares: [h100, {bandwidth: 1 TB/s}]\n");
  CHECK(messages(e.diagnostics) == "");
  CHECK(e.machine.gpu.bandwidth == BytesPerSecond(300e9));
  CHECK(e.machine.gpu.lanes == 16);
  REQUIRE(e.machine.spares.size() == 2);
  CHECK(e.machine.spares[0].bandwidth == BytesPerSecond(3.35e12));
  CHECK(e.machine.spares[0].lanes == 8);  // from l4, which h100 starts from
  CHECK(e.machine.spares[1].lanes == 4);
}

TEST_CASE("what comes from a preset says so") {
  const Expanded e = expanded("gpu: {preset: h100, lanes: 16}\n");
  const YamlNode* gpu = e.root.find("gpu");
  CHECK(gpu->find("lanes")->origin.empty());
  CHECK(gpu->find("bandwidth")->origin == "preset gpus/h100");
  CHECK(gpu->find("preset") == nullptr);
  const Expanded l4 = expanded("gpu: h100\n");
  CHECK(l4.root.find("gpu")->find("lanes")->origin == "preset gpus/l4");
}

TEST_CASE("a mistake in a preset points into its file and says where it was asked for") {
  const Expanded e = expanded("gpu: l4\nspares:\n  - broken\n");
  CHECK(e.diagnostics.text(false) ==
        "broken.yaml:1:12: error: 'bandwidth' needs a unit, for example 3 TB/s; got '3'\n"
        "    1 | bandwidth: 3\n"
        "      |            ^\n"
        "note: included from a.yaml:3\n"
        "1 error. Nothing was run.\n");
}

TEST_CASE("a preset that cannot be had is one message, not a chain of them") {
  CHECK(messages(expanded("gpu: l5\n").diagnostics) == "1:6 no preset 'l5'");
  CHECK(messages(expanded("gpu: {preset: l5, lanes: 2}\n").diagnostics) == "1:15 no preset 'l5'");
  CHECK(messages(expanded("gpu: {preset: [l4]}\n").diagnostics) ==
        "1:15 'preset' must be a name from the catalogue gpus; got a list");
  CHECK(messages(expanded("gpu: circle\n").diagnostics) == "1:9 preset 'circle' starts from itself");
  CHECK(messages(expanded("gpu: {preset: l4, lane: 2}\n").diagnostics) ==
        "1:19 unknown key 'lane' in gpu; did you mean 'lanes'?");
  CHECK(messages(expanded("gpu: {preset: l4, efficiency: {}}\n").diagnostics) ==
        "1:31 'value' is required in 'efficiency'");
  CHECK(messages(expanded("gpu: {preset: a100, efficiency: {}}\n").diagnostics) ==
        "1:33 'efficiency' is empty; give it a value, or leave it out");
  CHECK(messages(expanded("gpu: {preset: a100, lanes: 2, efficiency: {source: me}}\n").diagnostics) == "");
  CHECK(messages(expanded("{gpu: l4, preset: l4}\n").diagnostics) == "1:11 unknown key 'preset' in machine");
}

TEST_CASE("what is remembered of presets and defaults is what is made without remembering") {
  TreeMemory memory;
  const char* const texts[] = {"gpu: {preset: h100, lanes: 16}\nspares: [h100, {bandwidth: 1 TB/s}]\n",
                               "gpu: {preset: h100, lanes: 17}\nspares: [h100, {bandwidth: 1 TB/s}]\n",
                               "gpu: {preset: h100, lanes: 16}\nspares: [h100, l4]\ncooling: air\n"};
  for (int round = 0; round < 2; ++round)
    for (const char* text : texts) {
      YamlNode plain = tree(text), remembered = tree(text);
      Diagnostics diagnostics;
      expand_presets(plain, machine_fields().info(), load, diagnostics);
      expand_presets(remembered, machine_fields().info(), load, diagnostics, {}, &memory);
      CHECK(same(plain, remembered));
      fill_defaults(plain, machine_fields().info());
      fill_defaults(remembered, machine_fields().info(), &memory);
      CHECK(messages(diagnostics) == "");
      CHECK(same(plain, remembered));
      remembered.find("gpu")->find("lanes")->text = "99";  // a copy of what is remembered
    }
}

TEST_CASE("filled with defaults, a configuration is complete, in order and means the same") {
  YamlNode root = tree("cooling: air\nspares: [{bandwidth: 1 TB/s}]\nextra: 1\ngpu: {lanes: 2, bandwidth: 1 TB/s}\n");
  fill_defaults(root, machine_fields().info());
  CHECK(write_yaml(root) == R"(extra: 1
gpu:
  bandwidth: 1 TB/s
  efficiency: {value: 0.8, tag: fitted, source: "run 3, H100"}
  lanes: 2
spares:
  - bandwidth: 1 TB/s
    efficiency: {value: 0.8, tag: fitted, source: "run 3, H100"}
    lanes: 4
named: {}
cooling: {kind: air, fans: 2}
label: ""
)");
  CHECK(root.find("label")->origin == "default");
  CHECK(root.find("gpu")->find("efficiency")->find("source")->origin == "default");
  CHECK(root.find("gpu")->find("lanes")->origin.empty());
  YamlNode again = root;
  fill_defaults(again, machine_fields().info());
  CHECK(write_yaml(again) == write_yaml(root));
}

TEST_CASE("a family that is left out is filled with the kind that its field declares") {
  YamlNode root;
  fill_defaults(root, machine_fields().info());
  CHECK(write_yaml(root) == "spares: []\nnamed: {}\ncooling: {kind: water, flow: 2}\nlabel: \"\"\n");
}

TEST_CASE("an annotated tree says behind each value where it comes from") {
  YamlNode root = tree("gpu: {preset: l4, efficiency: {value: 0.7, tag: measured, source: run 9}}\nspares: []\n");
  Diagnostics diagnostics;
  expand_presets(root, machine_fields().info(), load, diagnostics);
  fill_defaults(root, machine_fields().info());
  apply_override(root, "label=a label that is longer than the column in which all the comments stand", diagnostics);
  CHECK(annotated(root) ==
        "gpu:\n"
        "  bandwidth: 300 GB/s  # preset gpus/l4\n"
        "  efficiency: 0.7      # a.yaml:1; measured: run 9\n"
        "  lanes: 8             # preset gpus/l4\n"
        "spares: []             # a.yaml:2\n"
        "named: {}              # default\n"
        "cooling:\n"
        "  kind: water          # default\n"
        "  flow: 2              # default\n"
        "label: a label that is longer than the column in which all the comments stand  # --set\n");
}

TEST_CASE("the table of fields shows units, choices, defaults, ranges and descriptions") {
  CHECK(fields_table(test::gpu_fields().info(), 120) ==
        "key         value                  default   range                       description\n"
        "----------  ---------------------  --------  --------------------------  ---------------------------------\n"
        "bandwidth   bandwidth (3.35 TB/s)  required  above 0                     of its memory\n"
        "efficiency  number                 0.8       at least 0 and at most 1    share of the peak that is reached\n"
        "lanes       whole number           4         a power of two, at least 1  PCIe lanes\n");
  CHECK(fields_table(machine_fields().info(), 100) ==
        "key      value                             default   range  description\n"
        "-------  --------------------------------  --------  -----  ---------------------\n"
        "gpu      gpu, or a preset of gpus          required         the one that works\n"
        "spares   list of gpu, or a preset of gpus  []               those that wait\n"
        "named    names with gpu                    {}               those with names\n"
        "cooling  water | air                       water            how heat leaves\n"
        "label    text                              \"\"               what is written on it\n");
}
