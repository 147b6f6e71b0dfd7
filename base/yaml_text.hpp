// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"

#include <memory>
#include <string>

namespace llmscape {

// Refuses what is no text: bytes that are not UTF-8, control characters (yaml-cpp takes some for the end of the file).
// False if something was refused.
bool check_text(const std::shared_ptr<const SourceText>& source, Diagnostics& diagnostics);

// JSON may be indented with tabs, YAML may not: outside of strings they become spaces. Nothing moves.
std::string spaces_for_tabs(std::string text);

}  // namespace llmscape
