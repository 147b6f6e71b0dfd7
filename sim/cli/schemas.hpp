// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace llmscape::cli {

// The files that have a JSON Schema.
inline constexpr std::array<std::string_view, 12> kSchemas = {
    "scenario", "sweep", "device", "model", "workload", "baseline", "study", "dram", "host", "link", "node", "tier"};

// JSON Schema (draft-07) of one of them: what schemas/NAME.schema.json holds, for editors and validators. Throws
// std::logic_error for another name.
std::string schema_of(std::string_view name);

}  // namespace llmscape::cli
