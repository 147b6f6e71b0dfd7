// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/studies_json.hpp"
#include "sim/report/studies_table.hpp"
#include "sim/run/pool.hpp"

namespace llmscape::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(STUDY is one of the studies that came with the program, a folder with a study.yaml, or such a file;
none: all that came with it. Exits with 1 when an exact or close claim, a direction, a negative
test or a pair of equal runs fails, or a miss has no reason. Numbers are medians over seeds.

Examples:
  llmscape reproduce
  llmscape reproduce efim
  llmscape reproduce efim --format json)";

struct Arguments {
  std::vector<std::string> studies;
  std::string format = "table";
  int jobs = run::default_jobs();
  bool quiet = false;
  Messages messages;
};

fs::path studies_folder() { return data_folder() / "studies"; }

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& folder : fs::directory_iterator(studies_folder(), none))
    if (fs::is_regular_file(folder.path() / "study.yaml")) names.push_back(folder.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// The study.yaml that is meant; an empty path after reporting.
fs::path file_of(const std::string& study, Diagnostics& diagnostics) {
  const std::vector<std::string> names = study_names();
  if (std::ranges::find(names, study) != names.end()) return studies_folder() / study / "study.yaml";
  if (fs::is_directory(study)) return fs::path(study) / "study.yaml";
  if (fs::is_regular_file(study)) return study;
  diagnostics.error({std::make_shared<const SourceText>(SourceText{study, ""})},
                    fmt::format("there is no study {}", in_quotes(study)), did_you_mean(study, names));
  return {};
}

int run_verb(const Arguments& arguments) {
  Diagnostics diagnostics;
  const run::Catalogs known = remembering_catalogs();
  std::vector<studies::Study> chosen;
  for (const std::string& name : arguments.studies.empty() ? study_names() : arguments.studies) {
    const fs::path file = file_of(name, diagnostics);
    if (file.empty()) continue;
    if (auto study = studies::read_study(file, diagnostics)) {
      studies::check_scenarios(*study, known, diagnostics);
      chosen.push_back(std::move(*study));
    }
  }
  arguments.messages.show(diagnostics, "See 'llmscape show fields study'.");
  if (diagnostics.has_errors()) return kUsage;
  Progress progress("reproduce", arguments.quiet);
  const auto results =
      studies::simulate(chosen, known, arguments.jobs, [&progress](double share) { progress.update(share); });
  std::vector<studies::StudyOutcome> outcomes;
  for (std::size_t i = 0; i < chosen.size(); ++i) outcomes.push_back(studies::judge(chosen[i], results[i]));
  const std::string text = arguments.format == "json"
                               ? report::studies_json(outcomes)
                               : report::studies_table(outcomes, std::max(120, terminal_width(stdout)));
  std::fputs(text.c_str(), stdout);
  return std::ranges::all_of(outcomes, [](const auto& outcome) { return outcome.passed(); }) ? kDone : kFailed;
}

}  // namespace

void add_reproduce(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("reproduce", "Simulate published systems, and check their claims");
  verb->footer(kFooter);
  verb->add_option("study", arguments->studies, "Studies; none: all")->type_name("STUDY");
  verb->add_option("--format", arguments->format, "What to print: table, or json (schema studies/1)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  verb->add_option("-j,--jobs", arguments->jobs, "Simulations at once; the results do not depend on it")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->default_str("one for each processor");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = run_verb(*arguments); });
}

}  // namespace llmscape::cli
