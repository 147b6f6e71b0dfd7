// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "sim/cli/completion_script.hpp"

namespace llmscape::cli {
namespace {

// 1: the verbs that have verbs; 2: values of options; 3: what else may stand there.
constexpr std::string_view kScript = R"(# bash completion for llmscape, as `llmscape completion bash` prints it
_llmscape() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} verb= options= words= places=
  COMPREPLY=()
  ((COMP_CWORD > 1)) && verb=${{COMP_WORDS[1]}}
  case $verb in {0}) ((COMP_CWORD > 2)) && verb+=" ${{COMP_WORDS[2]}}" ;; esac
  case "$verb $prev" in
{1}    *)
      case $verb in
{2}      esac
      [[ $cur == -* ]] && words=$options places=
      ;;
  esac
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$cur"
    [[ -z $places ]] || compgen $places -- "$cur"
  )
  [[ ${{COMPREPLY[0]}} != */ ]] || compopt -o nospace 2>/dev/null
}}
complete -o filenames -F _llmscape llmscape
)";

// The words that name a verb after the program.
std::string verb_of(const Command& command) {
  return fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), " "));
}

std::string_view places_of(const Parameter& parameter) {
  if (!parameter.others) return "";
  if (parameter.type == "DIR") return "-d";
  const bool names_a_file = parameter.names.front().front() != '-' || parameter.type.find("FILE") != std::string::npos;
  return names_a_file ? "-f" : "";
}

void add_values(const Command& command, std::string& cases) {
  for (const Parameter& option : command.options) {
    if (option.type.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) patterns.push_back(fmt::format("'{} {}'", verb_of(command), name));
    cases += fmt::format("    {}) words='{}' places={} ;;\n", fmt::join(patterns, " | "),
                         fmt::join(option.choices, " "), places_of(option));
  }
  for (const Command& verb : command.verbs) add_values(verb, cases);
}

void add_words(const Command& command, std::string& cases) {
  std::vector<std::string> options, words;
  std::string_view places;
  for (const Parameter& option : command.options) options.push_back(option.names.back());
  for (const Command& verb : command.verbs) words.push_back(verb.path.back());
  for (const Parameter& positional : command.positionals) {
    words.insert(words.end(), positional.choices.begin(), positional.choices.end());
    if (places.empty()) places = places_of(positional);
  }
  cases += fmt::format("        '{}') options='{}' words='{}' places={} ;;\n", verb_of(command),
                       fmt::join(options, " "), fmt::join(words, " "), places);
  for (const Command& verb : command.verbs) add_words(verb, cases);
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::vector<std::string> groups;
  for (const Command& verb : program.verbs)
    if (!verb.verbs.empty()) groups.push_back(verb_of(verb));
  std::string values, words;
  add_values(program, values);
  add_words(program, words);
  return fmt::format(fmt::runtime(kScript), fmt::join(groups, " | "), values, words);
}

}  // namespace llmscape::cli
