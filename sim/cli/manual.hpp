// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "sim/cli/command_tree.hpp"

namespace llmscape::cli {

// The manual page llmscape(1) in roff's man macros: what --help says, of the program and all its verbs.
std::string manual(const Command& program, std::string_view version);

}  // namespace llmscape::cli
