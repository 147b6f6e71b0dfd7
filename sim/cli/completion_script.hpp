// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/cli/command_tree.hpp"

namespace llmscape::cli {

// Scripts that complete verbs, options and their values. They are static: completing costs no run of the program.
std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);

}  // namespace llmscape::cli
