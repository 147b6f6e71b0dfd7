// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "sim/cli/completion_script.hpp"

namespace llmscape::cli {
namespace {

// Text inside single quotes and _arguments' brackets, or between its colons.
std::string zsh_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string function_of(const Command& command) { return fmt::format("_{}", fmt::join(command.path, "_")); }

// ":FORMAT:(table json)": what may follow.
std::string value_of(const Parameter& parameter) {
  std::string action;
  if (!parameter.choices.empty()) action = fmt::format("({})", fmt::join(parameter.choices, " "));
  else if (parameter.type == "DIR") action = "_files -/";
  else if (parameter.names.front().front() != '-' || parameter.type.find("FILE") != std::string::npos)
    action = "_files";
  if (parameter.others && !parameter.choices.empty())
    action = fmt::format(R"({{_alternative "words:word:{}" "files:file:_files"}})", action);
  return fmt::format(":{}:{}", zsh_quoted(parameter.type), action);
}

std::string option_of(const Parameter& option) {
  const std::string value = option.type.empty() ? "" : value_of(option);
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(option.type.empty() ? name : name + (name.starts_with("--") ? "=" : "+"));
  const std::string_view repeat = option.repeatable ? "*" : "";
  if (names.size() == 1) return fmt::format("'{}{}[{}]{}'", repeat, names.front(), zsh_quoted(option.text), value);
  return fmt::format("'{}'{{{}}}'[{}]{}'", option.repeatable ? "*" : fmt::format("({})", fmt::join(option.names, " ")),
                     fmt::join(names, ","), zsh_quoted(option.text), value);
}

std::string positional_of(const Parameter& positional) {
  return fmt::format("'{}{}'", positional.repeatable ? "*" : ":", value_of(positional));
}

void add_function(const Command& command, std::string& script) {
  for (const Command& verb : command.verbs) add_function(verb, script);
  std::vector<std::string> arguments;
  for (const Parameter& option : command.options) arguments.push_back(option_of(option));
  for (const Parameter& positional : command.positionals) arguments.push_back(positional_of(positional));
  if (command.verbs.empty()) {
    script += fmt::format("{}() {{\n  _arguments -s \\\n    {}\n}}\n\n", function_of(command),
                          fmt::join(arguments, " \\\n    "));
    return;
  }
  std::string verbs;
  for (const Command& verb : command.verbs)
    verbs += fmt::format("    '{}:{}'\n", verb.path.back(), zsh_quoted(verb.text));
  script += fmt::format(R"({0}() {{
  local context state line
  typeset -A opt_args
  local -a verbs=(
{1}  )
  _arguments -C \
    {2} \
    '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb) _describe verb verbs ;;
    argument) (($+functions[{0}_$line[1]])) && {0}_$line[1] ;;
  esac
}}

)",
                        function_of(command), verbs, fmt::join(arguments, " \\\n    "));
}

}  // namespace

std::string zsh_completion(const Command& program) {
  std::string script = "#compdef llmscape\n# zsh completion for llmscape, as `llmscape completion zsh` prints it\n\n";
  add_function(program, script);
  // Loaded from a folder of $fpath, the file is the body of the function; sourced, it has to say what it is for.
  return script + "if [[ $funcstack[1] == _llmscape ]]; then _llmscape \"$@\"; else compdef _llmscape llmscape; fi\n";
}

}  // namespace llmscape::cli
