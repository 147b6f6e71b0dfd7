// SPDX-License-Identifier: Apache-2.0
#include "fields_cases.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using namespace llmscape::literals;
using namespace llmscape::fields_cases;

TEST_CASE("each kind of field reads into its member, and absent ones keep their value") {
  const Part p = good(part_fields(), R"(
name: 010
on: false
count: 1_000
seed: -9223372036854775808
share: 1e-3
capacity: 80 GiB
timeout: 3 s
sizes: [4, 1e3]
law: related
level: high
)");
  CHECK(p.name == "010");
  CHECK(!p.on);
  CHECK(p.count == 1000);
  CHECK(p.seed == std::numeric_limits<std::int64_t>::min());
  CHECK(p.ways == 4);
  CHECK(p.share == 0.001);
  CHECK(p.capacity == 80_GiB);
  CHECK(p.timeout == 3_s);
  CHECK(p.sizes == std::vector<int>{4, 1000});
  CHECK(p.idle.value == 70_W);
  CHECK(p.law == Law::related);
  CHECK(p.level == "high");
  CHECK(good(part_fields(), "seed: 9_223_372_036_854_775_807").seed == std::numeric_limits<std::int64_t>::max());
  CHECK(good(part_fields(), "capacity: \"1 MiB\"").capacity == 1_MiB);  // JSON has no other way to write it
}

TEST_CASE("a number is refused unless it is a plain decimal one") {
  CHECK(part("share: '0.5'") == "1:8 'share' must be a number; a quoted text is none; leave the quotes out");
  CHECK(part("share: .inf") == "1:8 'share' must be a number; got '.inf'");
  CHECK(part("share: nan") == "1:8 'share' must be a number; got 'nan'");
  CHECK(part("share: 0x10") == "1:8 'share' is hexadecimal; write it in decimal digits; got '0x10'");
  CHECK(part("share: 2x") == "1:8 'share' has 'x' behind the number; got '2x'");
  CHECK(part("share: 00.5") == "1:8 'share' has a leading zero; got '00.5'");
  CHECK(part("share: 1e999") == "1:8 'share' is beyond the range of a double; got '1e999'");
  CHECK(part("share: 12:30") == "1:8 'share' has ':30' behind the number; got '12:30'");
  CHECK(part("share: yes") == "1:8 'share' must be a number; got 'yes'");
  CHECK(part("share: " + std::string(101, '1')) == "1:8 'share' must be a number; got '" + std::string(60, '1') + "…'");
  CHECK(part("share: [1]") == "1:8 'share' must be a number; got a list");
  CHECK(part("share: {a: 1}") == "1:8 'share' must be a number; got a mapping");
  CHECK(part("share:") == "1:1 'share' must be a number; got nothing");
  CHECK(part("share: ~") == "1:8 'share' must be a number; got nothing");
}

TEST_CASE("an integer is refused unless it is whole and its member can hold it") {
  CHECK(part("count: '3'") == "1:8 'count' must be a whole number; a quoted text is none; leave the quotes out");
  CHECK(part("count: 2.5") == "1:8 'count' must be a whole number; got '2.5'");
  CHECK(part("count: 1e-3") == "1:8 'count' must be a whole number; got '1e-3'");
  CHECK(part("count: 010") == "1:8 'count' has a leading zero; got '010'");
  CHECK(part("count: 0o17") == "1:8 'count' has 'o17' behind the number; got '0o17'");
  CHECK(part("count: 2147483648") ==
        "1:8 'count' must be a whole number from -2147483648 to 2147483647; got '2147483648'");
  CHECK(part("ways: -1") == "1:7 'ways' must be a whole number from 0 to 4294967295; got '-1'");
  for (const std::string beyond : {"9223372036854775808", "-9223372036854775809", "1e19"})
    CHECK(part("seed: " + beyond) ==
          "1:7 'seed' must be a whole number from -9223372036854775808 to 9223372036854775807; got '" + beyond + "'");
}

TEST_CASE("a quantity is refused without its unit or with one of another dimension") {
  CHECK(part("latency: 3") == "1:10 'latency' needs a unit, for example 3 ms; got '3'");
  CHECK(part("latency: 0") == "1:10 'latency' needs a unit, for example 0 ms; got '0'");
  CHECK(part("latency: 3 GB") == "1:10 'latency' has a unit of data where time is due; got '3 GB'");
  CHECK(part("latency: soon") == "1:10 'latency' must be a time such as 200 ms; got 'soon'");
  CHECK(part("latency: [3 s]") == "1:10 'latency' must be a time such as 200 ms; got a list");
  CHECK(part("timeout:") == "1:1 'timeout' must be a time such as 200 ms; got nothing");
}

TEST_CASE("a boolean is true or false and nothing else") {
  CHECK(part("on: yes") == "1:5 'on' must be true or false; got 'yes'; write 'true'");
  CHECK(part("on: Off") == "1:5 'on' must be true or false; got 'Off'; write 'false'");
  CHECK(part("on: 'true'") == "1:5 'on' must be true or false; got 'true'; write 'true'");
  CHECK(part("on: maybe") == "1:5 'on' must be true or false; got 'maybe'");
  CHECK(part("on: []") == "1:5 'on' must be true or false; got a list");
}

TEST_CASE("a choice lists the valid words and the nearest") {
  CHECK(part("law: unifrom") == "1:6 'law' must be one of related, uniform; got 'unifrom'; did you mean 'uniform'?");
  CHECK(part("level: loud") == "1:8 'level' must be one of low, high; got 'loud'");
  CHECK(part("level: {a: 1}") == "1:8 'level' must be one of low, high; got a mapping");
  CHECK(part("name: [a]") == "1:7 'name' must be a text; got a list");
}

TEST_CASE("a range says its bounds in the unit of the field") {
  CHECK(part("count: 0") == "1:8 'count' must be at least 1; got 0");
  CHECK(part("ways: 300") == "1:7 'ways' must be a power of two, at least 2; got 300");
  CHECK(part("ways: 1") == "1:7 'ways' must be a power of two, at least 2; got 1");
  CHECK(part("ways: 0") == "1:7 'ways' must be a power of two, at least 2; got 0");
  CHECK(part("share: -0.1") == "1:8 'share' must be at least 0 and at most 1; got -0.1");
  CHECK(part("share: 1.1") == "1:8 'share' must be at least 0 and at most 1; got 1.1");
  CHECK(part("capacity: 0 B") == "1:11 'capacity' must be above 0 and at most 1 TB; got 0 B");
  CHECK(part("capacity: 2 TB") == "1:11 'capacity' must be above 0 and at most 1 TB; got 2 TB");
  CHECK(part("latency: 2 ns") == "1:10 'latency' must be at least 1 us; got 2 ns");
  CHECK(good(part_fields(), "{share: 0, ways: 2, latency: 1 us, capacity: 1 TB}").ways == 2);
}

TEST_CASE("each item of a list is checked in its place") {
  CHECK(part("sizes: [1, x, 0, 2]") ==
        "1:12 'sizes' must be a whole number; got 'x'\n"
        "1:15 'sizes' must be at least 1; got 0");
  CHECK(part("sizes: 3") == "1:8 'sizes' must be a list; got '3'");
  CHECK(part("sizes: [[1]]") == "1:9 'sizes' must be a whole number; got a list");
  CHECK(good(part_fields(), "sizes: []").sizes.empty());
}

TEST_CASE("a sourced value is the user's own, or says where it comes from") {
  const Part bare = good(part_fields(), "idle: 60 W");
  CHECK(bare.idle.value == 60_W);
  CHECK(bare.idle.tag == Tag::assumed);
  CHECK(bare.idle.source.empty());
  const Part full = good(part_fields(), "idle: {value: 60 W, tag: datasheet, source: \"L4, p. 2\"}");
  CHECK(full.idle.value == 60_W);
  CHECK(full.idle.tag == Tag::datasheet);
  CHECK(full.idle.source == "L4, p. 2");
  CHECK(good(part_fields(), "idle: {value: 60 W, tag: fitted end to end}").idle.tag == Tag::fitted_end_to_end);
  CHECK(part("idle: {tag: fitted}") == "1:7 'value' is required in 'idle'");
  CHECK(part("idle: {value: 60, tag: guess, sorce: x}") ==
        "1:15 'idle' needs a unit, for example 60 W; got '60'\n"
        "1:24 'idle.tag' must be one of measured, fitted, datasheet, fitted end to end, assumed; got '"
        "guess'\n"
        "1:31 unknown key 'sorce' in 'idle', which holds value, tag and source; did you mean 'source'?");
  CHECK(part("idle: {value: {value: 60 W}}") == "1:15 'idle' must be a power such as 700 W; got a mapping");
}

TEST_CASE("an unknown key names the thing it stands in, and the key that was meant or all there are") {
  CHECK(part("capcity: 1 GB") == "1:1 unknown key 'capcity' in part; did you mean 'capacity'?");
  CHECK(part("name: a1\ncolour: red") == "2:1 unknown key 'colour' in part 'a1'");
  Diagnostics diagnostics;
  Part out;
  part_fields().read(out, tree("colour: red"), diagnostics);
  CHECK(diagnostics.sorted().at(0).notes ==
        std::vector<std::string>{
            "part has name, on, count, seed, ways, share, capacity, latency, timeout, sizes, idle, law, level"});
}

TEST_CASE("what should be a mapping and is none is said once") {
  CHECK(part("3") == "1:1 part must be a mapping; got '3'");
  CHECK(part("") == "1:1 part must be a mapping; got nothing");
  CHECK(whole("main: [1]") == "1:7 part must be a mapping; got a list");
  CHECK(whole("parts: {}") == "1:8 'parts' must be a list; got a mapping");
  CHECK(whole("named: []") == "1:8 'named' must be a mapping; got a list");
}

TEST_CASE("groups read into structs, optionals, lists and maps") {
  const Whole w =
      good(whole_fields(), "main: {count: 2}\nspare: {}\nparts: [{count: 3}, {}]\nnamed: {x: {count: 4}}\n");
  CHECK(w.main.count == 2);
  CHECK(w.spare.has_value());
  CHECK(w.parts.size() == 2);
  CHECK(w.parts.at(0).count == 3);
  CHECK(w.named.at("x").count == 4);
  CHECK(!good(whole_fields(), "{}").spare.has_value());
}

TEST_CASE(
    "a group that is left out is read as an empty one: its families get their kinds, what it requires is missing") {
  struct Outer {
    Whole inner;
    Poisson needy;
  };
  Fields<Poisson> needy("needy", "requires a rate");
  needy.add("rate", &Poisson::rate, "arrivals per second").required();
  Fields<Outer> outer("outer", "holds a whole");
  outer.add_group("inner", &Outer::inner, whole_fields(), "all of it");
  CHECK(good(outer, "{}").inner.arrivals != nullptr);
  outer.add_group("needy", &Outer::needy, needy, "with a required field");
  CHECK(refused(outer, "inner: {}") == "1:1 'rate' is required: arrivals per second");
}

TEST_CASE("all mistakes of a tree are found at once") {
  CHECK(whole("main: {count: 0}\nparts:\n  - count: x\n  - {on: no}\narrivals: {kind: poisson}\n") ==
        "1:15 'count' must be at least 1; got 0\n"
        "3:12 'count' must be a whole number; got 'x'\n"
        "4:10 'on' must be true or false; got 'no'; write 'false'\n"
        "5:11 'rate' is required: arrivals per second");
}

TEST_CASE("a kind of a family is named by its tag, or alone") {
  const Whole w = good(whole_fields(), "arrivals: {kind: gamma, rate: 8 /s, cv: 2}\nmore: [once, {kind: once}]\n");
  const auto* gamma = dynamic_cast<const Gamma*>(w.arrivals.get());
  REQUIRE(gamma != nullptr);
  CHECK(gamma->rate == PerSecond(8));
  CHECK(gamma->cv == 2);
  REQUIRE(w.more.size() == 2);
  CHECK(dynamic_cast<const Once*>(w.more[0].get()) != nullptr);
  CHECK(dynamic_cast<const Once*>(w.more[1].get()) != nullptr);
}

TEST_CASE("a family that is left out has the kind that its field declares") {
  const Whole w = good(whole_fields(), "{}");
  REQUIRE(dynamic_cast<const Poisson*>(w.arrivals.get()) != nullptr);
  CHECK(dynamic_cast<const Poisson*>(w.arrivals.get())->rate == PerSecond(3));
}

TEST_CASE("an unknown or missing kind lists all, the nearest, and the one that the keys fit") {
  CHECK(whole("arrivals: {kind: poison, rate: 8 /s}") ==
        "1:18 'kind' of arrivals must be one of poisson, gamma, once; got 'poison'; did you mean 'poisson'?");
  CHECK(whole("arrivals: gama") ==
        "1:11 'kind' of arrivals must be one of poisson, gamma, once; got 'gama'; did you mean 'gamma'?");
  CHECK(whole("arrivals: {rate: 8 /s, cv: 2}") ==
        "1:11 'kind' is required in arrivals: one of poisson, gamma, once; add 'kind: gamma'");
  CHECK(whole("arrivals: {rate: 8 /s}") == "1:11 'kind' is required in arrivals: one of poisson, gamma, once");
  CHECK(whole("arrivals: {kind: [once]}") == "1:18 'kind' of arrivals must be one of poisson, gamma, once; got a list");
  CHECK(whole("arrivals:") == "1:1 'kind' of arrivals must be one of poisson, gamma, once; got nothing");
  CHECK(whole("arrivals: {kind: once, rate: 1 /s}") == "1:24 unknown key 'rate' in once");
}

TEST_CASE("what the reader of the file refused is not reported again, but fails") {
  Diagnostics diagnostics;
  const YamlNode root = read("count: &x [*x]\n", diagnostics);
  YamlNode node = tree("{}");
  node.set("count", root.find("count")->items.at(0));
  Part out;
  CHECK(!part_fields().read(out, node, diagnostics));
  CHECK(messages(diagnostics) == "1:12 an alias cannot stand inside what it names");
}

TEST_CASE("a condition over the whole is checked once its fields are right") {
  Fields<Part> f("part", "a part");
  f.add("count", &Part::count, "how many").at_least(1);
  f.add("seed", &Part::seed, "seed");
  f.check([](const Part& p, const YamlNode& node, Diagnostics& diagnostics) {
    if (p.count > p.seed) diagnostics.error(node.find("count")->where, "'count' must not exceed 'seed'");
  });
  CHECK(refused(f, "{count: 3, seed: 2}") == "1:9 'count' must not exceed 'seed'");
  CHECK(refused(f, "{count: 0, seed: 2}") == "1:9 'count' must be at least 1; got 0");
  CHECK(good(f, "{count: 2, seed: 2}").count == 2);
}
