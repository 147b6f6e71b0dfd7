// SPDX-License-Identifier: Apache-2.0
#include "base/field_text.hpp"
#include "base/restate.hpp"
#include "fields_cases.hpp"

#include <doctest/doctest.h>

using namespace llmscape;
using namespace llmscape::literals;
using namespace llmscape::fields_cases;

TEST_CASE("a default is written as YAML that reads back to the member") {
  const auto text = [](std::string_view key) { return part_fields().info().find(key)->default_text; };
  CHECK(text("name") == "part");
  CHECK(text("on") == "true");
  CHECK(text("share") == "0.5");
  CHECK(text("capacity") == "1 GiB");
  CHECK(text("timeout") == std::nullopt);
  CHECK(text("sizes") == "[1, 2]");
  CHECK(text("idle") == "{value: 70 W, tag: measured, source: \"nvidia-smi, 10 min: idle\"}");
  CHECK(text("law") == "uniform");
  CHECK(arrivals().info().members.at(0).info->find("rate")->default_text == std::nullopt);  // required
  std::string all;
  for (const FieldInfo& field : part_fields().info().fields)
    if (field.default_text) all += field.key + ": " + *field.default_text + "\n";
  const Part p = good(part_fields(), all);
  CHECK(p.idle.source == Part{}.idle.source);
  CHECK(p.sizes == Part{}.sizes);
  CHECK(p.capacity == Part{}.capacity);
}

TEST_CASE("a field without a description cannot be declared") {
  Fields<Part> f("part", "a part");
  CHECK_THROWS_WITH(f.add("count", &Part::count, ""), "field 'count' of 'part' has no description");
}

TEST_CASE("what is written holds what differs from the default, each value as the reader takes it") {
  const auto written = [](const std::string& text) {
    return write_yaml(part_fields().write(good(part_fields(), text)));
  };
  CHECK(written("{}") == "{}\n");
  CHECK(written("{on: true, count: 1, capacity: 1 GiB, latency: 0.002 s, sizes: [1, 2], law: uniform}") == "{}\n");
  CHECK(written("{latency: 1e-3 s, capacity: 85899345920 B, share: 1e-3, sizes: [], law: related}") ==
        "share: 0.001\ncapacity: 80 GiB\nlatency: 1 ms\nsizes: []\nlaw: related\n");
  CHECK(written("{name: 'a: b', seed: -9223372036854775808}") == "name: \"a: b\"\nseed: -9223372036854775808\n");
  CHECK(written("{idle: 70 W}") == "idle: 70 W\n");  // the user's own: its default is sourced
  CHECK(written("{idle: {value: 70 W, tag: fitted}}") == "idle: {value: 70 W, tag: fitted}\n");
  CHECK(written("{idle: {value: 70 W, tag: measured, source: 'nvidia-smi, 10 min: idle'}}") == "{}\n");
  CHECK(written("{timeout: 3000 ms}") == "timeout: 3 s\n");
}

TEST_CASE("rounded figures keep as many digits as asked for") {
  Part p;
  p.share = 0.123456;
  p.latency = Seconds(1.0 / 3);
  p.idle = {Watts(1.0 / 7), Tag::fitted, ""};
  p.seed = 123456;
  CHECK(write_yaml(part_fields().write(p, 3)) ==
        "seed: 123456\nshare: 0.123\nlatency: 333 ms\nidle: {value: 143 mW, tag: fitted}\n");
  CHECK(good(part_fields(), write_yaml(part_fields().write(p))).latency == p.latency);  // to the last bit
}

TEST_CASE("groups, lists, maps and kinds are written as they are read") {
  const auto again = [](const std::string& text) {
    return write_yaml(whole_fields().write(good(whole_fields(), text)));
  };
  CHECK(again("{}") == "{}\n");
  CHECK(again("arrivals: {kind: poisson, rate: 3 /s}") == "{}\n");  // what an absent key is read from
  const std::string text =
      "main: {count: 2}\nspare: {}\nparts:\n  - {}\n  - {on: false}\nnamed:\n  left: {share: 1}\n"
      "arrivals: {kind: gamma, rate: 3 /s}\nmore:\n  - {kind: once}\n  - {kind: poisson, rate: 1 /s}\n";
  CHECK(again(text) == text);
}

TEST_CASE("a group is written against what its owner holds, not against its own defaults") {
  struct Owner {
    Owner() { inner.count = 7; }
    Part inner;
  };
  Fields<Owner> fields("owner", "of a part");
  fields.add_group("inner", &Owner::inner, part_fields(), "the part");
  Owner owner;
  CHECK(write_yaml(fields.write(owner)) == "{}\n");
  owner.inner.count = 1;  // what a part alone would be
  CHECK(write_yaml(fields.write(owner)) == "inner: {count: 1}\n");
  CHECK(good(fields, "inner: {count: 1}").inner.count == 1);
}

TEST_CASE("a bare scalar stands for one key of a group, and stays one as long as it says all") {
  struct Owner {
    std::optional<Part> part;
  };
  Fields<Owner> fields("owner", "of a part");
  fields.add_group("part", &Owner::part, part_fields(), "the part").or_bare("count");
  CHECK(good(fields, "part: 3").part->count == 3);
  CHECK_FALSE(good(fields, "{}").part);
  CHECK(value_of(*fields.info().find("part")) == "whole number | part");
  const auto brought = [&](const std::string& text, const std::string& meant) {
    YamlNode root = tree(text);
    restate(root, fields.write(good(fields, meant)), fields.info());
    return write_yaml(root);
  };
  CHECK(brought("part: 3", "part: {count: 3}") == "part: 3\n");
  CHECK(good(fields, brought("part: 3", "part: 4")).part->count == 4);
}

TEST_CASE("an object of no kind of its family cannot be written") {
  CHECK_THROWS_AS(static_cast<void>(arrivals().write(Arrivals())), std::logic_error);
}
