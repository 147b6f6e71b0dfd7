// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::cli {

// A word of a command line, without its quotes, and where it stands.
struct CommandWord {
  std::string text;
  SourceRange where;
};

// The words of a command as a shell divides it: at blanks outside of quotes and at ends of lines behind a backslash.
// `name` is what mistakes name in the place of a file. Nothing after reporting a quote that is never closed.
std::optional<std::vector<CommandWord>> words_of_command(std::string name, const std::string& command,
                                                         Diagnostics& diagnostics);

}  // namespace llmscape::cli
