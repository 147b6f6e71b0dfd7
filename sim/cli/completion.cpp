// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "sim/cli/verbs.hpp"

namespace llmscape::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmscape completion bash > ~/.local/share/bash-completion/completions/llmscape
  source <(llmscape completion zsh)   # in ~/.zshrc)";

// Static, so that completing costs no run of the program; tests/cli compares them with --help.
constexpr const char* kBash = R"(# bash completion for llmscape
_llmscape() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=
  COMPREPLY=()
  case $prev in
    --preset) words='interactivity cost power edge' ;;
    --color) words='auto always never' ;;
    --backend) words='cpu cuda' ;;
    --error-format) words='text json' ;;
    --format)
      case ${COMP_WORDS[1]} in
        run) words='table json vllm-json' ;;
        pareto) words='table json csv' ;;
        list) words='table markdown' ;;
      esac
      ;;
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  if ((COMP_CWORD == 1)); then
    words='run sweep pareto lint show list schema trace import compare validate bench calibrate accuracy engine report completion --help --version'
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  local messages='--color --error-format --help'
  case ${COMP_WORDS[1]} in
    run) words="--set --seed --from --output --requests --timeline --intervals --jobs --format --quiet --verbose $messages" ;;
    sweep)
      words="--output --axis --set --repeat --intervals --dry-run --list --resume --shard --merge --jobs --quiet $messages"
      ;;
    pareto)
      words="--max --min --objectives --preset --slo --where --group --epsilon --label --dominates --reference"
      words+=" --include-invalid --format --output $messages"
      ;;
    lint | compare) words=$messages ;;
    validate) words="--against --max-error --json --markdown $messages" ;;
    calibrate) words="--base --output --family --rows --report $messages" ;;
    accuracy) words="--data --output --summary --quiet $messages" ;;
    report) words="--output --max --min --group --slo --quiet $messages" ;;
    engine)
      words="--backend --model --trace --trace-format --requests --rate --prompt --output --seed --max-num-seqs"
      words+=" --max-num-batched-tokens --kv-blocks --eager --graphs --wall --time-budget --quiet $messages"
      ;;
    bench) words='--backend --list --filter --quick --time-budget --seed --output --quiet --help' ;;
    show) words="fields hardware/ model/ workload/ $messages" ;;
    list) words="devices models workloads batchers routers controllers arrivals streams metrics formats --format $messages" ;;
    schema) words='scenario device model workload --help' ;;
    completion) words='bash zsh --help' ;;
    import)
      words=vllm
      ((COMP_CWORD > 2)) && words="--model --device --workload --output $messages"
      ;;
    trace)
      if ((COMP_CWORD == 2)); then
        words='describe convert slice --help'
      else
        words="--trace-format $messages"
        case ${COMP_WORDS[2]} in
          describe) words+=' --block-tokens' ;;
          convert) words+=' --output --speedup --rebase' ;;
          slice) words+=' --output --speedup --rebase --first --count --from --to' ;;
        esac
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _llmscape llmscape
)";

// zsh runs the same script through its own bridge.
constexpr const char* kZshBridge = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n";

}  // namespace

void add_completion(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print the completion script of a shell");
  verb->footer(kFooter);
  verb->add_option("shell", *shell, "bash or zsh")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}).description(""));
  verb->callback([shell, &session] {
    if (*shell == "zsh") std::fputs(kZshBridge, stdout);
    std::fputs(kBash, stdout);
    session.exit_code = kDone;
  });
}

}  // namespace llmscape::cli
