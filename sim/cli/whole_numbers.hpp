// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace llmscape::cli {

// Lets options of type N take decimal whole numbers from 0 to 2^63 - 1 alone, in all verbs: CLI11 reads 2^64 as 2^63 -
// 1, -1 as 2^64 - 1 where no sign is kept, and 010 as 8.
void check_whole_numbers(CLI::App& program);

// A check of an option: what is wrong with a number that must be finite and above 0; empty if nothing is.
std::string above_zero(const std::string& text);

}  // namespace llmscape::cli
