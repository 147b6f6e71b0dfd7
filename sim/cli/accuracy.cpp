// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/standard_streams.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/accuracy_data.hpp"

namespace llmscape::cli::accuracy_verb {
namespace {

constexpr const char* kFooter =
    R"(FOLDER holds kernels/ and measured/: public kernel tables and runs, which are no part of llmscape. Every fit and
every run is computed again, which takes some minutes.

Examples:
  llmscape accuracy --data ../reference -o docs/accuracy.md
  llmscape accuracy --data ../reference --summary
  llmscape accuracy --data ../reference --section energy)";

struct Arguments {
  std::string data, output;
  std::vector<std::string> sections;
  bool summary = false, quiet = false;
  Messages messages;
};

int accuracy(const Arguments& arguments) {
  Diagnostics diagnostics;
  const report::AccuracySources sources{
      arguments.data, catalogs().models.parent_path().parent_path() / "traces/measured", remembering_catalogs()};
  const auto say = [&arguments](const std::string& what) {
    if (!arguments.quiet) write_to_stderr(fmt::format("accuracy: {}\n", what));
  };
  const report::AccuracyPage page = report::measure_accuracy(sources, arguments.sections, say, diagnostics);
  arguments.messages.show(diagnostics);
  if (diagnostics.has_errors()) return kUsage;
  const std::string output = arguments.output.empty() && !arguments.summary ? "-" : arguments.output;
  if (!output.empty()) write_file_atomically(output, report::accuracy_page(page));
  if (!arguments.summary) return kDone;
  const std::string summary = report::accuracy_summary(page);
  if (summary.empty()) say("the summary has figures of kernels and of runs, and these sections have neither");
  std::fputs(summary.c_str(), stdout);
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("accuracy", "Compute how far predictions are from everything that was measured");
  verb->footer(kFooter);
  verb->add_option("--data", arguments->data, "Folder of public kernel tables and measured runs")
      ->type_name("FOLDER")
      ->required()
      ->check(CLI::ExistingDirectory.description(""));
  verb->add_option("-o,--output", arguments->output, "Write the page here instead of printing it")->type_name("FILE");
  verb->add_option("--section", arguments->sections, "Only this part of the page; may be given more than once")
      ->type_name("NAME")
      ->check(CLI::IsMember(report::accuracy_sections()));
  verb->add_flag("--summary", arguments->summary, "Print the main figures, whether the page is written or not");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = accuracy(*arguments); });
}

}  // namespace llmscape::cli::accuracy_verb
