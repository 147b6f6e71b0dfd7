// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"
#include "tests/unit/base/machine_fields.hpp"
#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace llmscape;
using test::Machine, test::machine_fields, test::read, test::same_values, test::tree;

namespace {

constexpr int kRounds = 3000;

const std::string kGood[] = {
    R"(# a scenario
model: {preset: qwen2.5-coder-7b, weights: int8, note: "a: b # c"}
hardware:
  devices:
    - {name: gpu, preset: l4, count: 1}
    - name: edge
      clock: 800 MHz
  links: []
text: |
  it's two
  lines
)",
    "{\n\t\"a\": [1, 2.5e3, \"x\\n\"],\n\t\"b\": {\"c\": null, \"d\": true}\n}\n",
    "x: &x {k: 'v'}\ny: [*x, *x]\n? complex\n: - a\n  - >-\n    folded\n    text\nz: !!str 12 # end\n"};

const std::string kMachine = R"(gpu: {preset: l4, lanes: 8, efficiency: {value: 0.5, tag: fitted, source: run 1}}
spares: [l4, {bandwidth: 3 TB/s}]
named: {a: {bandwidth: 1e3 GB/s, efficiency: 0.25}}
cooling: {kind: air, fans: 2}
label: "rack 7, on the left behind the door of the second room"  # a remark that damage does not harm
)";

// Changes texts at random places, the same ones in every run (a linear congruential generator).
class Damage {
 public:
  std::size_t random(std::size_t below) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<std::size_t>(state_ >> 8) % below;
  }

  std::string done_to(std::string text, std::size_t most = 4) {
    static const std::string letters = "\t\n\r :-?,[]{}#&*!|>'\"%@`\\ax0~<.=\x80\xC3\x04";
    for (std::size_t changes = 1 + random(most); changes > 0; --changes) {
      const std::size_t at = random(text.size());
      const char letter = letters[random(letters.size())];
      switch (random(3)) {
        case 0: text[at] = letter; break;
        case 1: text.insert(at, 1, letter); break;
        default: text.erase(at, 1 + random(8)); break;
      }
    }
    return text;
  }

 private:
  std::uint32_t state_ = 1;
};

}  // namespace

TEST_CASE("damaged texts are read to an answer, never to a crash, and what is accepted is written and read again") {
  Damage damage;
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = damage.done_to(kGood[round % 3]);
    CAPTURE(text);
    Diagnostics diagnostics;
    const YamlNode root = read(text, diagnostics, round % 2 ? "a.yaml" : "a.json");
    CHECK(!diagnostics.text(true).empty() == diagnostics.has_errors());
    if (diagnostics.has_errors()) continue;
    ++accepted;
    CHECK(same_values(tree(write_yaml(root)), root));
  }
  CHECK(accepted > kRounds / 10);  // or half of the claim is empty
}

TEST_CASE("damaged configurations are read to an answer, and what is accepted means the same when it is complete") {
  const PresetLoader load = [](auto, std::string_view name, const SourceRange& where, Diagnostics& diagnostics) {
    if (name == "l4") return std::optional(tree("bandwidth: 300 GB/s\n"));
    diagnostics.error(where, "no such preset");
    return std::optional<YamlNode>();
  };
  Damage damage;
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = damage.done_to(kMachine, 2);
    CAPTURE(text);
    Diagnostics diagnostics;
    YamlNode root = read(text, diagnostics);
    expand_presets(root, machine_fields().info(), load, diagnostics);
    Machine machine, again;
    const bool read_well = machine_fields().read(machine, root, diagnostics);
    fill_defaults(root, machine_fields().info());
    CHECK(!annotated(root).empty());
    if (diagnostics.has_errors()) {
      CHECK(!diagnostics.text(false).empty());
      continue;
    }
    ++accepted;
    CHECK(read_well);
    CHECK(machine_fields().read(again, tree(write_yaml(root)), diagnostics));
    CHECK(again.gpu.bandwidth == machine.gpu.bandwidth);
    CHECK(again.gpu.efficiency.source == machine.gpu.efficiency.source);
    CHECK(again.spares.size() == machine.spares.size());
    CHECK(again.label == machine.label);
  }
  CHECK(accepted > kRounds / 10);
}

TEST_CASE("damaged overrides are applied or refused, never a crash") {
  Damage damage;
  int applied = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = damage.done_to(round % 2 ? "spares[1].bandwidth=3 TB/s" : "gpu.efficiency={value: 0.5}");
    CAPTURE(text);
    Diagnostics diagnostics;
    YamlNode root = tree(kMachine);
    apply_override(root, text, diagnostics);
    applied += !diagnostics.has_errors();
    CHECK(!write_yaml(root).empty());
  }
  CHECK(applied > kRounds / 10);
}
