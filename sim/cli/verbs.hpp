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

// Each adds one verb, in the file of its name; what it does when chosen sets `exit_code`. main.cpp has their table. The
// files are compiled together, so that each has a namespace for its own names.
namespace run_verb {
void add(CLI::App& app, Session& session);
}
namespace sweep_verb {
void add(CLI::App& app, Session& session);
}
namespace pareto_verb {
void add(CLI::App& app, Session& session);
}
namespace check_verb {
void add(CLI::App& app, Session& session);
}
namespace search_verb {
void add(CLI::App& app, Session& session);
}
namespace optimize_verb {
void add(CLI::App& app, Session& session);
}
namespace lint_verb {
void add(CLI::App& app, Session& session);
}
namespace show_verb {
void add(CLI::App& app, Session& session);
}
namespace list_verb {
void add(CLI::App& app, Session& session);
}
namespace schema_verb {
void add(CLI::App& app, Session& session);
}
namespace trace_verb {
void add(CLI::App& app, Session& session);
}
namespace import_verb {
void add(CLI::App& app, Session& session);
}
namespace compare_verb {
void add(CLI::App& app, Session& session);
}
namespace explain_verb {
void add(CLI::App& app, Session& session);
}
namespace sensitivity_verb {
void add(CLI::App& app, Session& session);
}
namespace engine_verb {
void add(CLI::App& app, Session& session);
}
namespace validate_verb {
void add(CLI::App& app, Session& session);
}
namespace observe_verb {
void add(CLI::App& app, Session& session);
}
namespace bench_verb {
void add(CLI::App& app, Session& session);
}
namespace calibrate_verb {
void add(CLI::App& app, Session& session);
}
namespace accuracy_verb {
void add(CLI::App& app, Session& session);
}
namespace reproduce_verb {
void add(CLI::App& app, Session& session);
}
namespace report_verb {
void add(CLI::App& app, Session& session);
}
namespace completion_verb {
void add(CLI::App& app, Session& session);
}
namespace man_verb {
void add(CLI::App& app, Session& session);
}

}  // namespace llmscape::cli
