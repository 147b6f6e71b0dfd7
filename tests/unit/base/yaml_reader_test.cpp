// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_reader.hpp"

#include "base/number_lists.hpp"
#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using test::messages, test::read, test::same_values, test::tree;

namespace {

// What one text is refused for.
struct Refusal {
  std::string text, expected;
};

void check_all(const std::vector<Refusal>& refusals, const std::string& name = "a.yaml") {
  for (const auto& [text, expected] : refusals) {
    CAPTURE(text);
    Diagnostics diagnostics;
    read(text, diagnostics, name);
    CHECK(messages(diagnostics) == expected);
  }
}

std::string place(const SourceRange& where) {
  return std::to_string(where.line) + ':' + std::to_string(where.column) + '+' + std::to_string(where.length);
}

// Each value on a line: its kind, its text and its place.
std::string listed(const YamlNode& node) {
  std::string out = std::to_string(static_cast<int>(node.kind)) + (node.quoted ? " '" : " ") + node.text + ' ' +
                    place(node.where) + '\n';
  for (const YamlNode& item : node.items) out += listed(item);
  for (const auto& [key, where, value] : node.entries) out += key + ' ' + place(where) + ": " + listed(value);
  return out;
}

// What a text is read to, with all that is said of it.
std::string reading(const std::string& text) {
  Diagnostics diagnostics;
  const YamlNode root = read(text, diagnostics);
  return listed(root) + messages(diagnostics);
}

std::string in_place_of(const std::string& mark, const std::string& text, const std::string& what) {
  std::string out = text;
  for (std::size_t at = 0; (at = out.find(mark, at)) != std::string::npos; at += what.size())
    out.replace(at, mark.size(), what);
  return out;
}

}  // namespace

TEST_CASE("every key and value knows its line, its column and its length") {
  const YamlNode root = tree("name: gpu0\nlist: [1, \"two 2\", 'it''s']\nmap:\n  é: 3.35 TB/s\n  absent:\nlast: ~\n");
  CHECK(place(root.entries.at(0).key_where) == "1:1+4");
  CHECK(place(root.find("name")->where) == "1:7+4");
  CHECK(place(root.find("list")->where) == "2:7+1");
  CHECK(place(root.find("list")->items.at(1).where) == "2:11+7");
  CHECK(root.find("list")->items.at(1).quoted);
  CHECK(place(root.find("list")->items.at(2).where) == "2:20+7");
  CHECK(root.find("list")->items.at(2).text == "it's");
  CHECK(place(root.find("map")->find("é")->where) == "4:7+9");  // columns count bytes
  CHECK(root.find("map")->find("absent")->kind == YamlNode::Kind::null);
  CHECK(place(root.find("map")->find("absent")->where) == "5:3+6");
  CHECK(place(root.find("last")->where) == "6:7+1");
}

TEST_CASE("an empty text is nothing, without an error") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n"}) {
    CAPTURE(text);
    Diagnostics diagnostics;
    const YamlNode root = read(text, diagnostics);
    CHECK(root.kind == YamlNode::Kind::null);
    CHECK(root.where.source != nullptr);
    CHECK(!diagnostics.has_errors());
  }
}

TEST_CASE("what YAML allows and a strict file must not hold is refused in its place") {
  check_all({
      {"a: 1\nb: 2\na: 3\n", "3:1 duplicate key 'a'"},
      {"a: {b: 1, b: 2, b: 3}\n", "1:11 duplicate key 'b'\n1:17 duplicate key 'b'"},
      {"a: 1\n---\nb: 2\n", "2:1 a second document starts here; a file holds one"},
      {"x: &x {q: 1}\ny:\n  <<: *x\n", "3:3 merge keys '<<' are not read here; write the keys out, or use an alias"},
      {"? [a, b]\n: 1\n", "1:3 a key must be a word"},
      {"{{a: 1}: 2}\n", "1:2 a key must be a word"},
      {"null: 1\n", "1:1 a key must be a word"},
      {"a: !!int 3\n", "1:4 the tag 'tag:yaml.org,2002:int' is not read here; write the value alone"},
      {"a: !foo {b: 1}\n", "1:4 the tag '!foo' is not read here; write the value alone"},
      {"a: !foo [1]\n", "1:4 the tag '!foo' is not read here; write the value alone"},
      {"a: *x\n", "1:4 this alias has no anchor above it"},
      {"a: &x [1, *x]\n", "1:11 an alias cannot stand inside what it names"},
  });
}

TEST_CASE("a duplicate key says where it was given first, and the first one holds") {
  Diagnostics diagnostics;
  const YamlNode root = read("a: 1\nb: 2\na: 3\n", diagnostics);
  CHECK(diagnostics.sorted().at(0).notes == std::vector<std::string>{"given first at a.yaml:1"});
  CHECK(root.find("a")->text == "1");
  CHECK(root.entries.size() == 2);
}

TEST_CASE("what is no text is refused in its place") {
  using namespace std::string_literals;
  check_all({
      {"a: 1\nb: \0\n"s, "2:4 the control character 0x00 does not belong in a text"},
      {"a: 1\nb: \x04 2\nc: 3\n", "2:4 the control character 0x04 does not belong in a text"},
      {"a: x\rb: 2\n", "1:5 the control character 0x0d does not belong in a text"},
      {"a: \"x\\x1b[31m\"\n", "1:4 the control character 0x1b does not belong in a text"},  // by an escape
      {"a: \x7f\n", "1:4 the control character 0x7f does not belong in a text"},
      {"é: \xff\n", "1:5 the byte 0xff is not UTF-8"},
      {"a: \xc0\xaf\n", "1:4 the byte 0xc0 is not UTF-8"},          // overlong
      {"a: \xed\xa0\x80\n", "1:4 the byte 0xed is not UTF-8"},      // surrogate
      {"a: \xf4\x90\x80\x80\n", "1:4 the byte 0xf4 is not UTF-8"},  // above U+10FFFF
      {"\xff\xfe"
       "a\0:\0"s,
       "1:1 the byte 0xff is not UTF-8"},  // UTF-16
  });
}

TEST_CASE("syntax errors have a place, and nothing more is read") {
  check_all({
      {"a: b: c\n", "1:5 no value can follow here; look at the indentation, and quote a text that has ': ' in it"},
      {"a: [1, 2\nb: 3\n", "2:2 a ',' or ']' is due here"},
      {"a:\n\tb: 1\n",
       "2:3 no value can follow here; look at the indentation, and quote a text that has ': ' in it; indent with "
       "spaces, not with tabs"},
      {"a: 1\nb: \"x\nc: 2\n", "2:4 this quote is never closed"},
      {"a: 'it''s\n", "1:4 this quote is never closed"},
      {"a: &x \"y\n", "1:4 this quote is never closed"},
      {"a: \"\\q\"\n", "1:7 this escape is not known; write a backslash as '\\\\'"},
  });
  Diagnostics diagnostics;
  CHECK(read("a: 1\nb: [", diagnostics).kind == YamlNode::Kind::invalid);
}

TEST_CASE("quotes inside a block of text close nothing") {
  CHECK(tree("a: |\n  it's \"\nb: \"\"\n").find("a")->text == "it's \"\n");
  CHECK(tree("a: &x >\n  it's\nb: *x\n").find("b")->text == "it's\n");
}

TEST_CASE("a byte-order mark and CR LF do not move places") {
  Diagnostics diagnostics;
  const YamlNode root = read(std::string("\xEF\xBB\xBF") + "a: \"x\"\r\na: 2\r\n", diagnostics);
  CHECK(place(root.find("a")->where) == "1:4+3");
  CHECK(messages(diagnostics) == "2:1 duplicate key 'a'");
  CHECK(diagnostics.text(false).find("    2 | a: 2\n") != std::string::npos);
}

TEST_CASE("an alias is a copy that stands where it is used") {
  const YamlNode root = tree("a: &x\n  k: 1\nb: *x\n");
  CHECK(same_values(*root.find("a"), *root.find("b")));
  CHECK(place(root.find("b")->where) == "3:4+1");
  CHECK(place(root.find("b")->find("k")->where) == "2:6+1");
}

TEST_CASE("aliases of aliases cannot exhaust memory") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 1; k < 10; ++k) bomb += ", " + last;
    bomb += "]\n";
  }
  Diagnostics diagnostics;
  CHECK(read(bomb, diagnostics).kind == YamlNode::Kind::invalid);
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.sorted()[0].message == "more than 1000000 values in one file");
  CHECK(diagnostics.sorted()[0].where.line == 6);  // a4 holds 111111 values, ten of it are too many
}

TEST_CASE("anchors inside anchors cannot exhaust memory") {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 20'000; ++i) text += "x, ";  // 60 anchors keep 20000 values each
  Diagnostics diagnostics;
  CHECK(read(text + std::string(60, ']'), diagnostics).kind == YamlNode::Kind::invalid);
  CHECK(diagnostics.sorted().at(0).message == "more than 1000000 values in one file");
}

TEST_CASE("trees are 64 levels deep at most, however they are written") {
  const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '['); };
  CHECK(tree(nested(64) + std::string(64, ']')).is_sequence());
  std::string aliases = "a0: &a0 x\n";
  for (int i = 1; i <= 100; ++i)
    aliases += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  std::string items, maps;
  for (int i = 0; i < 20'000; ++i) items += "- ", maps += "{a: ";
  for (const std::string& text : {nested(65) + std::string(65, ']'), nested(100'000), items, maps, aliases}) {
    Diagnostics diagnostics;
    CHECK(read(text, diagnostics).kind == YamlNode::Kind::invalid);
    REQUIRE(diagnostics.errors() >= 1);
    CHECK(diagnostics.sorted().back().message == "nested deeper than 64 levels");
  }
}

TEST_CASE("JSON is read with its escapes and with tabs") {
  Diagnostics diagnostics;
  const YamlNode root =
      read("{\n\t\"a\":\t1.5e-05,\n\t\"b\": \"x\\/\\u003c\\\"\t\",\n\t\"c\": [true, null]\n}\n", diagnostics, "a.json");
  CHECK(messages(diagnostics).empty());
  CHECK(root.find("a")->text == "1.5e-05");
  CHECK(!root.find("a")->quoted);
  CHECK(place(root.find("a")->where) == "2:7+7");
  CHECK(root.find("b")->text == "x/<\"\t");
  CHECK(root.find("b")->quoted);
  CHECK(root.find("c")->items.at(1).kind == YamlNode::Kind::null);
  check_all({{"{\n\t\"a\": 1,\n\t\"a\": 2\n}\n", "3:2 duplicate key 'a'"},
             {"{\"a\": 1,\n", "2:1 a ',' or '}' is due here; a key or a text with brackets or commas stands in quotes"},
             {"{\"a\": \"\\ud83d\"}", "1:14 this escape names no character"}},
            "a.json");
}

// Long lists of numbers are read beside the parser (base/number_lists) unless something stands behind them.
TEST_CASE("long lists of numbers are read as the parser reads them") {
  const std::string numbers =
      "[-8.6, -11.7, 0, +9.9,11.5 , 7.5e-3, .7, 0.8,\n      -12, -15.4, -4.2,\n\n 8, 6.2, 2., 0, -1E3]";
  for (const char* text :
       {"@\n", "a: @\nb: 1\n", "a:\n  @\nb: 1\n", "- x\n- @\n- @\n", "a: {k: 1, l: @\n  , m: 2}\n", "é: &x @\nb: *x\n",
        "a: !!seq @\n", "a: !foreign @\n", "\"a\": @\n\"a\": @\n", "? @\n: 1\n", "a: 1\n  @\n", "a: @\n  - 1\n",
        "a: [[1, 2], @\n]\n", "a: @\n b: ]\n", "a: @\nb: \"never closed\n", "  a: @\n"}) {
    CAPTURE(text);
    CHECK(!long_number_lists(in_place_of("@", text, numbers)).empty());
    CHECK(long_number_lists(in_place_of("@", text, numbers + " # the parser's")).empty());
    CHECK(reading(in_place_of("@", text, numbers)) == reading(in_place_of("@", text, numbers + " # the parser's")));
  }
  CHECK(tree("a: " + numbers + "\n").find("a")->items.size() == 16);
  CHECK(tree("a: " + numbers + "\n").find("a")->items[11].where.line == 4);
}

TEST_CASE("what looks like a list of numbers in a text stays in the text") {
  const std::string numbers = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]";
  CHECK(tree("a: |\n  " + numbers + "\nb: " + numbers + "\n").find("a")->text == numbers + "\n");
  CHECK(tree("a: 'one\n  " + numbers + "\n  two'\n").find("a")->text == "one " + numbers + " two");
  CHECK(tree("a: \"one\n  " + numbers + "\n  two\"\n").find("a")->text == "one " + numbers + " two");
  CHECK(tree("a: one\n  " + numbers + "\n").find("a")->text == "one " + numbers);
  CHECK(tree("# " + numbers + "\na: 1 # " + numbers + "\n").find("a")->text == "1");
  CHECK(tree("a: >-\n  \n  " + numbers + "\n").find("a")->text == "\n" + numbers);
}

TEST_CASE("a file that cannot be opened is an error without a line") {
  Diagnostics diagnostics;
  CHECK(read_yaml_file("no/such/file.yaml", diagnostics).kind == YamlNode::Kind::invalid);
  CHECK(diagnostics.text(false) ==
        "no/such/file.yaml: error: cannot open: No such file or directory\n1 error. Nothing was run.\n");
}

TEST_CASE("a tree is changed by key and keeps its order") {
  YamlNode root = tree("a: 1\nb: 2\n");
  root.set("a", YamlNode::scalar("3"));
  root.set("c", YamlNode::scalar("4"));
  root.erase("b");
  CHECK(write_yaml(root) == "a: 3\nc: 4\n");
  YamlNode null;
  null.set("a", YamlNode::scalar("1"));
  CHECK(null.is_mapping());
  CHECK(null.find("b") == nullptr);
  CHECK(tree("[1]").find("a") == nullptr);
}

TEST_CASE("merging lays mappings over each other key by key and replaces all else") {
  const YamlNode base = tree("a: {x: 1, y: 2}\nlist: [1, 2]\nkeep: k\n");
  const YamlNode over = tree("\n\na: {y: 3, z: 4}\nlist: [5]\nnew: n\n");
  const YamlNode both = merge(base, over);
  CHECK(write_yaml(both) == "a: {x: 1, y: 3, z: 4}\nlist: [5]\nkeep: k\nnew: n\n");
  CHECK(place(both.find("a")->find("x")->where) == "1:8+1");
  CHECK(place(both.find("a")->find("y")->where) == "3:8+1");
}

TEST_CASE("a mapping of another kind or policy takes the place of the other whole") {
  const auto laid = [](const char* over) {
    return write_yaml(merge(tree("a: {kind: poisson, rate: 2 /s}\n"), tree(over)));
  };
  CHECK(laid("a: {kind: closed_loop, users: 4}\n") == "a: {kind: closed_loop, users: 4}\n");
  CHECK(laid("a: {kind: poisson, cv: 2}\n") == "a: {kind: poisson, rate: 2 /s, cv: 2}\n");
  CHECK(laid("a: {rate: 3 /s}\n") == "a: {kind: poisson, rate: 3 /s}\n");
  CHECK(write_yaml(merge(tree("{policy: orca, max_batch: 8}"), tree("{policy: sglang}"))) == "policy: sglang\n");
}
