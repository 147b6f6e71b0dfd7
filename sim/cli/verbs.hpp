// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace llmscape::cli {

// What the program answers to its caller; the table stands in the footer of --help.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // a check, an SLO, a claim or a baseline failed
  kUsage = 2,          // wrong usage or configuration: nothing ran
  kPartly = 3,         // some points of a sweep failed
  kBroken = 4,         // an invariant broke, or an internal error
  kInterrupted = 130,
};

// Each adds one verb; what it does when chosen sets `exit_code`.
void add_run(CLI::App& app, int& exit_code);

}  // namespace llmscape::cli
