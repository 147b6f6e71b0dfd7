// SPDX-License-Identifier: Apache-2.0
#include "sim/report/compare.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"

namespace llmscape::cli::compare_verb {
namespace {

constexpr const char* kFooter =
    R"(The last column names the one that is better, where one direction is: see 'llmscape list metrics'.
It names none for total_joules, total_cost and co2_g where the windows differ in length (unless
both are whole runs that completed as many calls), for peak_w where its slices do, for counts that
grow with a run (preemptions, computed, loads, ...) where windows and numbers of requests differ,
and for joules and money that are unlike. 'same': equal to nine digits.

Examples:
  llmscape run scenario.yaml -o a
  llmscape run scenario.yaml --set hardware.devices[0].count=2 -o b
  llmscape compare a b)";

}  // namespace

void add(CLI::App& app, Session& session) {
  struct Arguments {
    std::string a, b;
    Messages messages;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("compare", "Put two results side by side, with ratios");
  verb->footer(kFooter);
  verb->add_option("a", arguments->a, "A result: run.json, or the folder that 'run -o' wrote")
      ->type_name("RESULT")
      ->required();
  verb->add_option("b", arguments->b, "Another one")->type_name("RESULT")->required();
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    Diagnostics diagnostics;
    const auto text = report::compare(arguments->a, arguments->b, diagnostics);
    arguments->messages.show(diagnostics);
    if (text) std::fputs(text->c_str(), stdout);
    session.exit_code = text ? kDone : kUsage;
  });
}

}  // namespace llmscape::cli::compare_verb
