// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/result_file.hpp"

namespace llmscape::cli::explain_verb {
namespace {

constexpr const char* kFooter =
    R"(docs/explaining.md says how each table is counted.

Examples:
  llmscape run scenario.yaml -o out
  llmscape explain out
  llmscape explain sweep/points/4f1c.json --format json)";

}  // namespace

void add(CLI::App& app, Session& session) {
  struct Arguments {
    std::string result, format = "table";
    Messages messages;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("explain", "Say where the time and the joules of a result went");
  verb->footer(kFooter);
  verb->add_option("result", arguments->result,
                   "A result: run.json, the folder that 'run -o' wrote, or a point of a sweep (points/ID.json)")
      ->type_name("RESULT")
      ->required();
  verb->add_option("--format", arguments->format, "What to print: table or json (schema explain/1)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}).description(""))
      ->capture_default_str();
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    Diagnostics diagnostics;
    const auto result = report::read_result(arguments->result, diagnostics);
    arguments->messages.show(diagnostics);
    session.exit_code = diagnostics.has_errors() ? kUsage : kDone;
    if (diagnostics.has_errors()) return;
    const report::Explanation explanation = report::explain(result);
    std::fputs((arguments->format == "json" ? to_json(explanation) : to_text(explanation)).c_str(), stdout);
  });
}

}  // namespace llmscape::cli::explain_verb
