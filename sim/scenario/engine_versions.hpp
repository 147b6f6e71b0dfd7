// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace llmscape::scenario {

// Below zero, zero or above: the versions of an engine by their numbers, "0.9" < "0.13", "1" = "1.0".
int compare_versions(std::string_view a, std::string_view b);
// Numbers with points between them.
bool is_version(std::string_view text);

}  // namespace llmscape::scenario
