// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/process_pool.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/report/studies_json.hpp"
#include "sim/report/studies_page.hpp"
#include "sim/report/studies_picture.hpp"
#include "sim/report/studies_table.hpp"
#include "sim/report/study_figure.hpp"

namespace llmscape::cli::reproduce_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(STUDY is one of the studies that came with the program, a folder with a study.yaml, or such a file;
none: all that came with it. Numbers are medians over seeds. Exits with 0 when every verdict is
what study.yaml declares: a claim or negative test misses or ties where it gives a reason, and
nowhere else, and equal runs are equal. Else with 1; with --strict for every miss and tie too.

Examples:
  llmscape reproduce
  llmscape reproduce efim
  llmscape reproduce efim --format json
  llmscape reproduce efim --strict
  llmscape reproduce --markdown studies.md --figures pictures/studies)";

struct Arguments {
  std::vector<std::string> studies;
  std::string format = "table", markdown, figures;
  int jobs = default_jobs();
  bool quiet = false, strict = false;
  Messages messages;
};

void report(const std::string& what, const std::string& message, const std::string& hint, Diagnostics& diagnostics) {
  diagnostics.error({std::make_shared<const SourceText>(SourceText{what, ""})}, message, hint);
}

// The study.yaml that is meant; an empty path after reporting.
fs::path file_of(const std::string& study, Diagnostics& diagnostics) {
  const std::vector<std::string> names = studies::study_names(studies_folder());
  if (std::ranges::find(names, study) != names.end()) return studies_folder() / study / "study.yaml";
  std::error_code none;
  if (fs::is_directory(study, none)) return fs::path(study) / "study.yaml";
  if (fs::is_regular_file(study, none)) return study;
  const std::string meant = did_you_mean(study, names);
  report(study, fmt::format("there is no study {}", in_quotes(study)),
         meant.empty() ? "see 'llmscape list studies'" : meant, diagnostics);
  return {};
}

std::vector<std::string> all_studies(Diagnostics& diagnostics) {
  std::vector<std::string> names = studies::study_names(studies_folder());
  if (names.empty())
    report(studies_folder().string(), "there are no studies in this folder", "name a folder with a study.yaml",
           diagnostics);
  return names;
}

// What is said of systems without a study, where all are reproduced that came with the program.
std::string not_reproduced(const Arguments& arguments) {
  std::string missing;
  return arguments.studies.empty() ? read_file(studies_folder() / "not-reproduced.md", missing).value_or("") : "";
}

std::string text_of(const std::vector<studies::StudyOutcome>& outcomes, const Arguments& arguments) {
  constexpr int kNarrowest = 120;  // a claim's numbers need that
  if (arguments.format == "json") return report::studies_json(outcomes);
  if (arguments.format == "md") return report::studies_page(outcomes, not_reproduced(arguments));
  return report::studies_table(outcomes, std::max(kNarrowest, terminal_width(stdout)));
}

int run_verb(const Arguments& arguments) {
  Diagnostics diagnostics;
  const scenario::Catalogs known = remembering_catalogs();
  std::vector<studies::Study> chosen;
  for (const std::string& name : arguments.studies.empty() ? all_studies(diagnostics) : arguments.studies) {
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
  std::vector<studies::Study> all = chosen;  // and those with kernels of their own once more with the catalogue's
  for (const studies::Study& study : chosen)
    if (study.kernels) all.push_back(studies::without_kernels(study));
  const auto results =
      studies::simulate(all, known, arguments.jobs, [&progress](double share) { progress.update(share); });
  std::vector<studies::StudyOutcome> outcomes;
  std::size_t once_more = chosen.size();
  for (std::size_t i = 0; i < chosen.size(); ++i)
    outcomes.push_back(studies::judge(chosen[i], results[i], chosen[i].kernels ? &results[once_more++] : nullptr));
  if (!is_stdout(arguments.markdown))
    std::fputs(text_of(outcomes, arguments).c_str(), stdout);  // first: a file may be impossible to write
  if (!arguments.markdown.empty())
    write_file_atomically(arguments.markdown, report::studies_page(outcomes, not_reproduced(arguments)));
  if (!arguments.figures.empty()) {
    write_file_atomically(fs::path(arguments.figures) / fmt::format("{}.svg", report::kStudiesPicture),
                          report::studies_picture(outcomes));
    for (const studies::StudyOutcome& outcome : outcomes)
      if (outcome.figure)
        write_file_atomically(fs::path(arguments.figures) / (outcome.study->name + ".svg"),
                              report::study_figure(*outcome.figure));
  }
  const auto passes = [&](const studies::StudyOutcome& outcome) {
    return arguments.strict ? outcome.all_hold() : outcome.as_declared();
  };
  return std::ranges::all_of(outcomes, passes) ? kDone : kFailed;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("reproduce", "Simulate published systems, and check their claims");
  verb->footer(kFooter);
  verb->add_option("study", arguments->studies, "Studies; none: all")->type_name("STUDY");
  verb->add_option("--format", arguments->format, "What to print: table, json (schema studies/1) or md (a page)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "json", "md"}))
      ->capture_default_str();
  verb->add_option("--markdown", arguments->markdown, "Write the page here too: docs/studies.md is such a one")
      ->type_name("FILE");
  verb->add_option("--figures", arguments->figures,
                   "Write a picture of all (published.svg) and of each study (NAME.svg) into this folder")
      ->type_name("DIR");
  verb->add_option("-j,--jobs", arguments->jobs, "Simulations at once; the results do not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_flag("--strict", arguments->strict, "Exit with 1 for every miss and tie, declared or not");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = run_verb(*arguments); });
}

}  // namespace llmscape::cli::reproduce_verb
