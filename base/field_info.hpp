// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "base/yaml_reader.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

// What a configuration may hold, declared once per field: key, member, unit, default or required, range, description.
// The same table feeds parsing, defaults, ranges, `show`, the JSON Schema and the docs.

struct StructInfo;
struct FamilyInfo;

enum class ValueKind { boolean, integer, number, quantity, text, choice, group, family, any };

struct FieldInfo {
  std::string key;
  std::string text;  // the description: one line, mandatory (an empty one throws when the table is built)
  ValueKind kind = ValueKind::text;
  Dimension dimension = Dimension::number;
  bool list = false;     // a sequence of `kind`
  bool map = false;      // a mapping from free names to `kind`
  bool sourced = false;  // may also be written {value, tag, source}
  bool required = false;
  std::optional<std::string>
      default_text;  // as it would be written in YAML (families: a whole mapping); absent: nothing is assumed
  std::optional<double> minimum, maximum;  // SI units
  bool above_minimum = false;              // the minimum itself is refused
  bool power_of_two = false;
  std::vector<std::string> choices;
  const StructInfo* group = nullptr;
  const FamilyInfo* family = nullptr;
  std::string bare;     // groups: the key that a bare scalar stands for: fp8 means {keys: fp8}; empty: none
  std::string catalog;  // mappings may name `preset: NAME`, read from this catalogue; a bare scalar NAME means the same
};

struct StructInfo {
  std::string name;  // "device", "batcher": as in `show fields device`
  std::string text;
  std::vector<FieldInfo> fields;
  [[nodiscard]] const FieldInfo* find(std::string_view key) const;
};

// The field's default_text as a tree; one that is not YAML is a mistake in the field table and throws.
YamlNode default_of(const FieldInfo& info);

// A choice of kinds with fields of their own: {kind: poisson, rate: 8 /s}. A bare scalar names a kind with all
// defaults.
struct FamilyInfo {
  struct Member {
    std::string name, text;
    const StructInfo* info;
  };
  std::string name;  // "arrivals"
  std::string tag;   // the key that chooses: "kind", "policy"
  std::vector<Member> members;
};

}  // namespace llmscape
