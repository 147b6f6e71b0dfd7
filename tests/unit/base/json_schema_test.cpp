// SPDX-License-Identifier: Apache-2.0
#include "base/json_schemas.hpp"
#include "base/json_text.hpp"
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
      "times": {
        "description": "when", "type": "array", "default": [], "items": {"$ref": "#/definitions/quantity.time"}
      },
      "level": {"description": "how loud", "type": "string", "enum": ["low", "high"], "default": "low"}
    },
    "additionalProperties": false,
    "definitions": {"quantity.time": {"type": "string", "examples": ["200 ms"]}}
  })json");
  expected["definitions"]["quantity.time"]["pattern"] = pattern_of(Dimension::time);
  CHECK(Json::parse(json_schema(fields.info(), "https://example.org/switches.json")) == expected);
}

TEST_CASE("groups, families, quantities and sourced values are definitions of their own, presets included") {
  Json expected = Json::parse(R"json({
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "machine",
    "title": "machine",
    "description": "what stands in the rack",
    "type": "object",
    "properties": {
      "gpu": {"description": "the one that works"},
      "spares": {"description": "those that wait", "type": "array", "default": []},
      "named": {
        "description": "those with names",
        "type": "object",
        "default": {},
        "additionalProperties": {"$ref": "#/definitions/gpu-2"}
      },
      "cooling": {
        "description": "how heat leaves", "default": "water", "allOf": [{"$ref": "#/definitions/cooling"}]
      },
      "label": {"description": "what is written on it", "type": "string", "default": ""}
    },
    "required": ["gpu"],
    "additionalProperties": false,
    "definitions": {
      "quantity.bandwidth": {"type": "string", "examples": ["3.35 TB/s"]},
      "tag": {"type": "string", "enum": ["measured", "fitted", "datasheet", "fitted end to end", "assumed"]},
      "sourced.number": {
        "anyOf": [
          {"type": "number", "minimum": 0, "maximum": 1},
          {
            "type": "object",
            "properties": {
              "value": {"type": "number", "minimum": 0, "maximum": 1},
              "tag": {"$ref": "#/definitions/tag"},
              "source": {"type": "string"}
            },
            "required": ["value"],
            "additionalProperties": false
          }
        ]
      },
      "cooling": {
        "anyOf": [
          {"type": "string", "enum": ["water", "air"]},
          {"$ref": "#/definitions/cooling.water"},
          {"$ref": "#/definitions/cooling.air"}
        ]
      },
      "cooling.water": {
        "description": "cold plates",
        "type": "object",
        "properties": {
          "kind": {"const": "water"},
          "flow": {"description": "litres a minute (above 0.5)", "type": "number", "exclusiveMinimum": 0.5, "default": 2}
        },
        "additionalProperties": false
      },
      "cooling.air": {
        "description": "fans",
        "type": "object",
        "properties": {"kind": {"const": "air"}, "fans": {"description": "how many", "type": "integer", "default": 2}},
        "additionalProperties": false
      }
    }
  })json");
  Json gpu = Json::parse(R"json({
    "description": "a graphics processor",
    "type": "object",
    "properties": {
      "bandwidth": {"description": "of its memory (above 0)", "allOf": [{"$ref": "#/definitions/quantity.bandwidth"}]},
      "efficiency": {
        "description": "share of the peak that is reached (at least 0 and at most 1)",
        "default": {"value": 0.8, "tag": "fitted", "source": "run 3, H100"},
        "allOf": [{"$ref": "#/definitions/sourced.number"}]
      },
      "lanes": {
        "description": "PCIe lanes (a power of two, at least 1)", "type": "integer", "minimum": 1, "default": 4
      }
    },
    "additionalProperties": false
  })json");
  const Json preset_name = {{"type", "string"}, {"description", "name of an entry of the catalogue gpus"}};
  const Json gpu_or_preset = {preset_name, {{"$ref", "#/definitions/gpu"}}};
  expected["properties"]["gpu"]["anyOf"] = gpu_or_preset;
  expected["properties"]["spares"]["items"]["anyOf"] = gpu_or_preset;
  expected["definitions"]["quantity.bandwidth"]["pattern"] = pattern_of(Dimension::bandwidth);
  Json& alone = expected["definitions"]["gpu-2"] = gpu;  // where no catalogue is read
  alone["required"] = {"bandwidth"};
  Json& over_preset = expected["definitions"]["gpu"] = gpu;
  over_preset["properties"]["preset"] = preset_name;
  over_preset["anyOf"] = {{{"required", {"preset"}}}, {{"required", {"bandwidth"}}}};
  CHECK(Json::parse(json_schema(test::machine_fields().info(), "machine")) == expected);
}

TEST_CASE("files of a set refer to what those before them have written") {
  JsonSchemas set;
  const Json gpu = Json::parse(set.add({"gpu.json", &test::gpu_fields().info(), "gpu", nullptr, "gpus"}));
  CHECK(gpu["required"] == Json({"schema", "bandwidth"}));
  CHECK(gpu["properties"]["schema"]["const"] == "gpu/1");
  CHECK_FALSE(gpu["properties"].contains("preset"));
  CHECK(gpu["properties"]["lanes"]["$ref"] == "#/definitions/gpu/properties/lanes");
  CHECK(gpu["definitions"]["gpu"]["properties"]["lanes"]["default"] == 4);
  const StructInfo coolings{"cooling", "ways to cool", {}};
  const Json cooling = Json::parse(set.add({"cooling.json", &coolings, "cooling", &test::cooling().info()}));
  CHECK(cooling["oneOf"][1]["$ref"] == "#/definitions/cooling.air.file");
  CHECK(cooling["definitions"]["cooling.air.file"]["required"] == Json({"schema", "kind"}));
  const Json machine = Json::parse(set.add({"machine.json", &test::machine_fields().info(), "machine"}));
  CHECK(machine["properties"]["gpu"]["anyOf"][1]["$ref"] == "gpu.json#/definitions/gpu");
  CHECK(machine["properties"]["named"]["additionalProperties"]["$ref"] == "#/definitions/gpu");
  // Here the kind may be left out, as there is a default.
  CHECK(machine["definitions"]["cooling"]["anyOf"][2]["$ref"] == "#/definitions/cooling.air");
}

TEST_CASE("JSON stands on one line where it fits") {
  const std::string json = R"({"b":[1,2.50,"x\"y"],"a":{"long":["aaaaaaaa","bbbbbbbb"],"empty":{}}})";
  CHECK(json_text(json, 80) == R"({"b": [1, 2.5, "x\"y"], "a": {"long": ["aaaaaaaa", "bbbbbbbb"], "empty": {}}})"
                               "\n");
  CHECK(json_text(json, 36) == R"({
 "b": [1, 2.5, "x\"y"],
 "a": {
  "long": ["aaaaaaaa", "bbbbbbbb"],
  "empty": {}
 }
}
)");
  CHECK_THROWS_AS(json_text("{"), std::logic_error);
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
