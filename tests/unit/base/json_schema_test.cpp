// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"
#include "tests/unit/base/machine_fields.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace llmscape;
using Json = nlohmann::json;

namespace {

struct Switches {
  bool on = true;
  std::vector<Seconds> times;
  std::string level = "low";
};

}  // namespace

TEST_CASE("the schema of a struct is a draft-07 object without other keys") {
  Fields<Switches> fields("switches", "things to set");
  fields.add("on", &Switches::on, "whether it runs");
  fields.add("times", &Switches::times, "when");
  fields.add("level", &Switches::level, "how loud").one_of({"low", "high"});
  Json expected = Json::parse(R"json({
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "https://example.org/switches.json",
    "title": "switches",
    "description": "things to set",
    "type": "object",
    "properties": {
      "on": {"description": "whether it runs", "type": "boolean", "default": true},
      "times": {"description": "when", "type": "array", "default": [], "items": {"type": "string", "examples": ["200 ms"]}},
      "level": {"description": "how loud", "type": "string", "enum": ["low", "high"], "default": "low"}
    },
    "additionalProperties": false
  })json");
  expected["properties"]["times"]["items"]["pattern"] = pattern_of(Dimension::time);
  CHECK(Json::parse(json_schema(fields.info(), "https://example.org/switches.json")) == expected);
}

TEST_CASE("groups, families, presets and sourced values are definitions of their own") {
  Json gpu = Json::parse(R"json({
    "description": "a graphics processor",
    "type": "object",
    "properties": {
      "bandwidth": {"description": "of its memory (above 0)", "type": "string", "examples": ["3.35 TB/s"]},
      "efficiency": {
        "description": "share of the peak that is reached (at least 0 and at most 1)",
        "default": {"value": 0.8, "tag": "fitted", "source": "run 3, H100"},
        "anyOf": [
          {"type": "number", "minimum": 0, "maximum": 1},
          {
            "type": "object",
            "properties": {
              "value": {"type": "number", "minimum": 0, "maximum": 1},
              "tag": {"type": "string", "enum": ["measured", "fitted", "datasheet", "assumed"]},
              "source": {"type": "string"}
            },
            "required": ["value"],
            "additionalProperties": false
          }
        ]
      },
      "lanes": {
        "description": "PCIe lanes (a power of two, at least 1)", "type": "integer", "minimum": 1, "default": 4
      }
    },
    "required": ["bandwidth"],
    "additionalProperties": false
  })json");
  gpu["properties"]["bandwidth"]["pattern"] = pattern_of(Dimension::bandwidth);
  const Json preset_name = {{"type", "string"}, {"description", "name of an entry of the catalogue gpus"}};
  Json gpu_over_preset = gpu;
  gpu_over_preset["properties"]["preset"] = preset_name;
  gpu_over_preset["required"] = {"preset"};
  const Json gpu_reference = {{"$ref", "#/definitions/gpu"}};
  const Json gpu_or_preset = {preset_name, {{"$ref", "#/definitions/gpu.preset"}}, gpu_reference};
  Json expected = Json::parse(R"json({
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "machine",
    "title": "machine",
    "description": "what stands in the rack",
    "type": "object",
    "properties": {
      "gpu": {"description": "the one that works"},
      "spares": {"description": "those that wait", "type": "array", "default": []},
      "named": {"description": "those with names", "type": "object", "default": {}},
      "cooling": {
        "description": "how heat leaves",
        "default": "water",
        "anyOf": [
          {"type": "string", "enum": ["water", "air"]},
          {"$ref": "#/definitions/cooling.water"},
          {"$ref": "#/definitions/cooling.air"}
        ]
      },
      "label": {"description": "what is written on it", "type": "string", "default": ""}
    },
    "required": ["gpu"],
    "additionalProperties": false,
    "definitions": {
      "cooling.water": {
        "description": "cold plates",
        "type": "object",
        "properties": {
          "kind": {"const": "water"},
          "flow": {"description": "litres a minute (above 0.5)", "type": "number", "exclusiveMinimum": 0.5, "default": 2}
        },
        "required": ["kind"],
        "additionalProperties": false
      },
      "cooling.air": {
        "description": "fans",
        "type": "object",
        "properties": {"kind": {"const": "air"}, "fans": {"description": "how many", "type": "integer", "default": 2}},
        "required": ["kind"],
        "additionalProperties": false
      }
    }
  })json");
  expected["properties"]["gpu"]["anyOf"] = gpu_or_preset;
  expected["properties"]["spares"]["items"]["anyOf"] = gpu_or_preset;
  expected["properties"]["named"]["additionalProperties"] = gpu_reference;
  expected["definitions"]["gpu"] = gpu;
  expected["definitions"]["gpu.preset"] = gpu_over_preset;
  CHECK(Json::parse(json_schema(test::machine_fields().info(), "machine")) == expected);
}

TEST_CASE("structs that share a name are told apart, and one that holds itself is defined once") {
  struct Tree {
    int leaves = 0;
    std::vector<Tree> branches;
    std::vector<Switches> others;
  };
  Fields<Switches> other("tree", "another tree");
  other.add("on", &Switches::on, "whether it runs");
  Fields<Tree> fields("tree", "a tree");
  fields.add("leaves", &Tree::leaves, "how many");
  fields.add_group("branches", &Tree::branches, fields, "smaller trees");
  fields.add_group("others", &Tree::others, other, "other trees");
  const Json schema = Json::parse(json_schema(fields.info(), "tree"));
  CHECK(schema["definitions"].size() == 2);
  CHECK(schema["properties"]["branches"]["items"]["$ref"] == "#/definitions/tree");
  CHECK(schema["properties"]["others"]["items"]["$ref"] == "#/definitions/tree-2");
  CHECK(schema["definitions"]["tree"]["properties"]["branches"]["items"]["$ref"] == "#/definitions/tree");
  CHECK(schema["definitions"]["tree-2"]["description"] == "another tree");
}
