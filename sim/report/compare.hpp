// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/diagnostics.hpp"

namespace llmscape::report {

// Two results (as read_result() takes them) side by side: what both were, then each metric with the ratio of
// the second to the first and which of them is better. Nothing after reporting a file that is no result.
std::optional<std::string> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                                   Diagnostics& diagnostics);

}  // namespace llmscape::report
