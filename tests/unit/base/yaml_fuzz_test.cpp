// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_reader.hpp"
#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace llmscape;
using test::read, test::same, test::tree;

namespace {

const std::string kScenario = R"(# a scenario
schema: scenario/1
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
)";

}  // namespace

TEST_CASE("damaged texts are read to an answer, never to a crash, and what is accepted can be written and read again") {
  const std::string good[] = {
      kScenario, "{\n\t\"a\": [1, 2.5e3, \"x\\n\"],\n\t\"b\": {\"c\": null, \"d\": true}\n}\n",
      "x: &x {k: 'v'}\ny: [*x, *x]\n? complex\n: - a\n  - >-\n    folded\n    text\nz: !!str 12 # end\n"};
  std::uint32_t state = 1;
  const auto random = [&](std::size_t below) {  // numerical recipes' linear congruential generator
    state = state * 1664525u + 1013904223u;
    return static_cast<std::size_t>(state >> 8) % below;
  };
  const std::string letters = "\t\n\r :-?,[]{}#&*!|>'\"%@`\\ax0~<.=\x80\xC3\x04";
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good[random(3)];
    for (std::size_t changes = 1 + random(4); changes > 0; --changes) {
      const std::size_t at = random(text.size());
      const char letter = letters[random(letters.size())];
      switch (random(3)) {
        case 0: text[at] = letter; break;
        case 1: text.insert(at, 1, letter); break;
        default: text.erase(at, 1 + random(8)); break;
      }
    }
    CAPTURE(text);
    Diagnostics diagnostics;
    const YamlNode root = read(text, diagnostics, round % 2 ? "a.yaml" : "a.json");
    CHECK(!diagnostics.text(true).empty() == diagnostics.has_errors());
    if (diagnostics.has_errors()) continue;
    ++accepted;
    CHECK(same(tree(write_yaml(root)), root));
  }
  CHECK(accepted > 300);  // or the second half of the claim is empty
}
