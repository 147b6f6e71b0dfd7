// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace llmscape::cli {

// What the program answers to its caller; the table stands in the footer of --help.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  // a check, an SLO, a claim or a baseline failed
  kUsage = 2,   // wrong usage or configuration: nothing ran
  kPartly = 3,  // some points of a sweep failed
  kBroken = 4,  // an invariant broke, or an internal error
  kInterrupted = 130,
};

// One call of the program: what was typed, and what it answers.
struct Session {
  std::vector<std::string> arguments;
  int exit_code = kDone;
};

// Each adds one verb, in the file of its name; what it does when chosen sets `exit_code`. main.cpp has their table.
void add_run(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_pareto(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_search(CLI::App& app, Session& session);
void add_optimize(CLI::App& app, Session& session);
void add_lint(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_schema(CLI::App& app, Session& session);
void add_trace(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_sensitivity(CLI::App& app, Session& session);
void add_engine(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_accuracy(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);

}  // namespace llmscape::cli
