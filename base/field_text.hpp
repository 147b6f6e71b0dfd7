// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/field_info.hpp"

#include <string>

namespace llmscape {

// The range of a field in words: "a power of two, at least 1", "above 0 and at most 2 s"; empty if it has none.
std::string range_of(const FieldInfo& field);
// What a value of the field is, in short: "number", "time", "a | b", "list of device".
std::string value_of(const FieldInfo& field);
// The description with the range.
std::string description_of(const FieldInfo& field);

}  // namespace llmscape
