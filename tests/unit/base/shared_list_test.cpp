// SPDX-License-Identifier: Apache-2.0
#include "base/shared_list.hpp"
#include "base/recent.hpp"

#include "tests/unit/base/reading.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace llmscape;
using test::tree;

TEST_CASE("a copy of a list shares its elements until one of the two is changed") {
  SharedList<std::string> one = {"a", "b"};
  SharedList<std::string> other = one;
  CHECK(other.shares(one));
  CHECK(&std::as_const(other)[1] == &std::as_const(one)[1]);
  other[1] = "c";
  CHECK_FALSE(other.shares(one));
  CHECK(std::as_const(one)[1] == "b");
  CHECK(std::as_const(other)[1] == "c");
  one.push_back("d");
  CHECK(one.size() == 3);
  CHECK(other.size() == 2);
}

TEST_CASE("an element that nobody else shares is changed where it stands") {
  SharedList<std::string> list = {"a", "b"};
  const std::string* place = &std::as_const(list)[0];
  list[0] = "c";
  CHECK(place == &std::as_const(list)[0]);
  CHECK(*place == "c");
}

TEST_CASE("erasing what is not there changes nothing, and what is there only in this copy") {
  SharedList<std::string> one = {"a", "b"};
  SharedList<std::string> other = one;
  other.erase_if([](const std::string& text) { return text == "z"; });
  CHECK(other.shares(one));
  other.erase_if([](const std::string& text) { return text == "a"; });
  CHECK(other.size() == 1);
  CHECK(one.size() == 2);
}

TEST_CASE("a tree and its copy are changed without the other noticing, however deep") {
  const YamlNode before = tree("a: {b: {c: 1, d: [2, 3]}, e: 4}\n");
  YamlNode after = before;
  CHECK(same(before, after));
  after.find("a")->find("b")->find("d")->items[1].text = "5";
  CHECK(write_yaml(before) == "a:\n  b:\n    c: 1\n    d: [2, 3]\n  e: 4\n");
  CHECK(write_yaml(after) == "a:\n  b:\n    c: 1\n    d: [2, 5]\n  e: 4\n");
  CHECK_FALSE(same(before, after));
  CHECK(before.find("a")->find("b")->find("c")->text == "1");
}

TEST_CASE("trees are the same when their values, places and origins are") {
  CHECK(same(tree("a: [1, {b: 2}]\n"), tree("a: [1, {b: 2}]\n")));
  CHECK_FALSE(same(tree("a: [1, {b: 2}]\n"), tree("a: [1, {b: 3}]\n")));
  CHECK_FALSE(same(tree("a: [1, {b: 2}]\n"), tree("a: [1,  {b: 2}]\n")));  // another column
  CHECK_FALSE(same(tree("a: 1\n"), tree("a: '1'\n")));
  // One node from another text, at the same place there.
  const YamlNode one = tree("x: 1\ny: 2\n"), from = tree("x: 9\ny: 2\n");
  YamlNode mixed = tree("x: 1\ny: 2\n");
  CHECK(same(one, mixed));
  *mixed.find("y") = *from.find("y");
  CHECK_FALSE(same(one, mixed));
  CHECK_FALSE(same(mixed, one));
  YamlNode other = tree("a: 1\n");
  other.find("a")->origin = "--set";
  CHECK_FALSE(same(tree("a: 1\n"), other));
}

TEST_CASE("of what is remembered the result that was not asked for the longest goes first") {
  Recent<int, std::string, 2> recent;
  const auto find = [&recent](int wanted) { return recent.find([wanted](int known) { return known == wanted; }); };
  recent.keep(1, "one");
  recent.keep(2, "two");
  REQUIRE(find(1));
  CHECK(*find(1) == "one");
  recent.keep(3, "three");
  CHECK_FALSE(find(2));
  CHECK(find(1));
  CHECK(find(3));
}
