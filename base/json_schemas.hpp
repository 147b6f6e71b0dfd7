// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/field_info.hpp"

#include <map>
#include <string>
#include <utility>

namespace llmscape {

// A kind of file that has a JSON Schema.
struct SchemaFile {
  std::string id;                    // "tier.schema.json": its name, by which the schemas beside it refer to it
  const StructInfo* info = nullptr;  // the fields of such a file; of a family its name and text alone
  std::string kind{};  // it begins with `schema: KIND/1`, which field tables leave out; empty: it does not
  const FamilyInfo* family = nullptr;  // it is one of these kinds, perhaps over a preset of `catalog`
  std::string catalog{};               // other files take it as a preset of this catalogue; empty: none does
};

// JSON Schemas (draft-07) with descriptions, units as patterns, ranges, choices, presets as strings. What field tables
// share is written once: each struct, family and quantity stands under `definitions` and is referred to from all places
// that hold it; one that an earlier file of the set has is referred to there, as FILE#/definitions/NAME.
class JsonSchemas {
 public:
  // The schema of the file, as JSON text.
  std::string add(const SchemaFile& file);
  // What an earlier file wrote, with its place: by table and role (a kind of a family, over a preset).
  using Written = std::map<std::pair<const void*, std::string>, std::string>;

 private:
  Written written_;
};

}  // namespace llmscape
