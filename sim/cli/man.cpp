// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>

#include "sim/cli/manual.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"

namespace llmscape::cli::man_verb {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmscape man | man -l -
  llmscape man > ~/.local/share/man/man1/llmscape.1)";

}  // namespace

void add(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("man", "Print the manual page, in roff");
  verb->footer(kFooter);
  verb->callback([&app, &session] {
    std::fputs(manual(command_tree(app), version().number).c_str(), stdout);
    session.exit_code = kDone;
  });
}

}  // namespace llmscape::cli::man_verb
