// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmscape::cli {

// An option, or a positional argument.
struct Parameter {
  std::vector<std::string> names;    // "-o", "--output"; of a positional its one name
  std::string type;                  // of its value: "FILE"; empty: it takes none
  std::vector<std::string> choices;  // what it takes, as far as that can be listed
  bool others = true;                // it takes other values as well
  std::string text, fallback;        // what it means, and its default
  bool required = false, repeatable = false;
};

// The program, or a verb of it, with the verbs below: what completion and the manual page are made from.
struct Command {
  std::vector<std::string> path;  // "llmscape", "trace", "describe"
  std::string text, footer;       // as in --help
  std::vector<Parameter> options, positionals;
  std::vector<Command> verbs;
};

Command command_tree(const CLI::App& program);

// Lets completion offer these words for a value that the verb checks itself, and files beside them if it takes others.
void suggest(CLI::Option& option, const std::vector<std::string>& words, bool others);

}  // namespace llmscape::cli
