// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_lines.hpp"

#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using test::same_values, test::tree;

TEST_CASE("a written tree reads back the same") {
  const YamlNode root = tree(R"(schema: scenario/1 # a comment
model: {preset: qwen2.5-coder-7b, weights: int8, note: 'a: b # c'}
hardware: {devices: [{name: gpu, preset: l4, count: 1},
  {name: edge, clock: 800 MHz}], links: []}
text: |
  it's two
  lines
)");
  const std::string text = write_yaml(root);
  CHECK(text == R"(schema: scenario/1
model: {preset: qwen2.5-coder-7b, weights: int8, note: "a: b # c"}
hardware:
  devices:
    - {name: gpu, preset: l4, count: 1}
    - {name: edge, clock: 800 MHz}
  links: []
text: "it's two\nlines\n"
)");
  CHECK(same_values(tree(text), root));
  CHECK(write_yaml(tree(text)) == text);
}

TEST_CASE("texts are quoted where they would be read as something else, and only there") {
  for (const char* plain : {"a", "3.35 TB/s", "-3", "1e-5", "a:b", "https://x.org/a#b", "it's", "é", "x-y_z", "true"}) {
    CHECK(write_yaml(YamlNode::scalar(plain)) == std::string(plain) + "\n");
  }
  for (const char* special : {"",
                              "\xEF\xBB\xBFz",  // a byte order mark
                              "~",
                              "null",
                              " a",
                              "a ",
                              "- a",
                              "-",
                              "a: b",
                              "a:",
                              "a #b",
                              "#a",
                              "[a",
                              "a, b",
                              "{a}",
                              "*a",
                              "&a",
                              "!a",
                              "|",
                              ">",
                              "'a",
                              "\"a\"",
                              "%a",
                              "@a",
                              "`a",
                              "?",
                              ": a",
                              "---",
                              "...",
                              "a\nb",
                              "\t",
                              "back\\slash\n",
                              "<<"}) {
    CAPTURE(special);
    YamlNode root = tree("{}"), list = tree("[]");
    list.items = {YamlNode::scalar(special), YamlNode::scalar("b")};
    root.set(special, YamlNode::scalar(special));
    root.set("list", list);
    CHECK(write_yaml(root).front() == '"');
    CHECK(same_values(tree(write_yaml(root)), root));
  }
}

TEST_CASE("containers break into lines where they do not fit into 100 columns, and nest in lists") {
  YamlNode root = tree("a: [[1, [2]], [{b: [], c: {}}, null]]\n");
  CHECK(write_yaml(root) == "a:\n  - - 1\n    - [2]\n  - - b: []\n      c: {}\n    - null\n");
  CHECK(same_values(tree(write_yaml(root)), root));
  YamlNode list = tree("[]");
  for (int i = 0; i < 24; ++i) list.items.push_back(YamlNode::scalar("12"));  // "a: [" + 24 x 4 - 2 + "]" = 99
  YamlNode wide = tree("{}");
  wide.set("a", list);
  CHECK(write_yaml(wide).size() == 100);
  wide.find("a")->items.push_back(YamlNode::scalar("12"));
  CHECK(write_yaml(wide).starts_with("a:\n  - 12\n"));
}
