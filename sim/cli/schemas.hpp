// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field_info.hpp"

namespace llmscape::cli {

// The files that have a JSON Schema.
inline constexpr std::array<std::string_view, 15> kSchemas = {
    "scenario",       "sweep", "device", "model", "workload", "baseline", "study", "rows",
    "host_constants", "dram",  "host",   "link",  "node",     "tier",     "prices"};

// The field table that the schema of that name is made from; of a device, the one whose only key `device` has the
// family of kinds. Throws std::logic_error for another name.
const StructInfo& fields_of_schema(std::string_view name);

// JSON Schemas (draft-07), name and text: what schemas/NAME.schema.json holds, for editors and validators. Each struct
// is written in one of them, and the others refer to it by the name of that file.
std::vector<std::pair<std::string_view, std::string>> schema_files();

}  // namespace llmscape::cli
