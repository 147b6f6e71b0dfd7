// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::cli {

// Reports a file that is named twice, by whatever path: what it tells would count twice.
void report_twice(const std::vector<std::string>& paths, Diagnostics& diagnostics);

}  // namespace llmscape::cli
