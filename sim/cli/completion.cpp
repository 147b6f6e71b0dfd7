// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "sim/cli/completion_script.hpp"
#include "sim/cli/verbs.hpp"

namespace llmscape::cli::completion_verb {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmscape completion bash > ~/.local/share/bash-completion/completions/llmscape
  llmscape completion zsh > ~/.local/share/zsh/site-functions/_llmscape   # a folder of $fpath
  source <(llmscape completion zsh)                                      # or in ~/.zshrc)";

}  // namespace

void add(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print the completion script of a shell");
  verb->footer(kFooter);
  verb->add_option("shell", *shell, "bash or zsh")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  verb->callback([shell, &app, &session] {
    const Command program = command_tree(app);
    std::fputs((*shell == "zsh" ? zsh_completion(program) : bash_completion(program)).c_str(), stdout);
    session.exit_code = kDone;
  });
}

}  // namespace llmscape::cli::completion_verb
