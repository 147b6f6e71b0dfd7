// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::fuzz {

// One kind of input that comes from outside.
struct Target {
  std::string_view name;       // of its folder in corpus/
  std::string_view file_name;  // of an input: some readers look at its end
  std::string_view seeds;      // inputs elsewhere in the tree, a regular expression over their paths; may be empty
  // Reads the file and uses what was read. Whatever it holds, it returns: with a value, or having reported.
  void (*read)(const std::string& path, Diagnostics& diagnostics);
};

std::span<const Target> targets();

// Reads `bytes` as the target's input, from a file of this process in `folder`. Throws std::logic_error where the
// reader throws, or reports a mistake that cannot be printed.
void feed(const Target& target, std::string_view bytes, const std::filesystem::path& folder);

// All inputs of the target that the tree has: its corpus and its seeds, sorted.
std::vector<std::filesystem::path> inputs_of(const Target& target);

}  // namespace llmscape::fuzz
