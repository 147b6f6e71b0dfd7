// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/command_tree.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace llmscape::cli {
namespace {

constexpr const char* kOthers = "...";

// A type is "FORMAT:{table,json}" where only these are taken: CLI11 adds what its checks say of themselves.
void read_type(const std::string& type, Parameter& parameter) {
  parameter.type = type.substr(0, type.find(':'));
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos) return;
  parameter.choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  parameter.others = parameter.choices.back() == kOthers;
  if (parameter.others) parameter.choices.pop_back();
}

Parameter parameter_of(const CLI::Option& option) {
  Parameter parameter;
  if (option.get_positional()) parameter.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) parameter.names.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) parameter.names.push_back("--" + name);
  if (option.get_type_size() > 0) read_type(option.get_type_name(), parameter);
  parameter.text = option.get_description();
  parameter.fallback = option.get_default_str();
  parameter.required = option.get_required();
  parameter.repeatable = option.get_expected_max() > 1;
  return parameter;
}

Command command_of(const CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  Command command{path, app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? command.positionals : command.options).push_back(parameter_of(*option));
  for (const CLI::App* verb : app.get_subcommands({})) command.verbs.push_back(command_of(*verb, path));
  return command;
}

}  // namespace

Command command_tree(const CLI::App& program) { return command_of(program, {}); }

void suggest(CLI::Option& option, const std::vector<std::string>& words, bool others) {
  option.check(
      CLI::Validator([](std::string&) { return std::string(); },
                     fmt::format("{{{}{}}}", fmt::join(words, ","), others ? fmt::format(",{}", kOthers) : "")));
}

}  // namespace llmscape::cli
