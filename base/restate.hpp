// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/schema.hpp"

namespace llmscape {

// Makes `tree`, from which a struct was read, say what `written` says: that struct as its table writes it now
// (Fields::write). What says so already stays as it is, with its place, origin, unit and quotes ("79.1 GiB" is not
// written as "84.93 GB"); defaults count as said on either side. Both trees are complete afterwards (fill_defaults).
// Returns a line for each difference that there was: "/device/count: 4 | 8".
std::vector<std::string> restate(YamlNode& tree, YamlNode written, const StructInfo& info);

}  // namespace llmscape
