// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/explore/space_check.hpp"
#include "sim/explore/sweep.hpp"
#include "sim/studies/results.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/row_mapping.hpp"
#include "traces/request_trace.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli::lint_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(Says what each file is, or every mistake in it (of a trace up to twenty broken rows), and runs
nothing. A scenario is read with all that it names. A plan whose 'between' has no 'sample', as
'optimize' takes it, is a warning.

Examples:
  llmscape lint scenario.yaml
  llmscape lint my-gpu.yaml config.json requests.csv
  llmscape lint --error-format json scenario.yaml)";

void read_to_the_end(const fs::path& trace, std::string_view format, std::int64_t records, const SourceRange& where,
                     Diagnostics& diagnostics) {
  const auto reader = traces::open_trace(trace.string(), format, where, diagnostics);
  if (!reader) return;
  while (records-- > 0 && reader->next(diagnostics)) {
  }
}

void lint_scenario(const fs::path& file, Diagnostics& diagnostics) {
  const auto scenario = scenario::load_scenario(file, {}, std::nullopt, catalogs(), diagnostics);
  if (!scenario) return;
  const workloads::WorkloadConfig& workload = scenario->config.workload;
  const auto generator =
      workloads::make_generator(workload, scenario->workload_context(), RandomStreams(1), diagnostics);
  if (!generator || !workload.replay) return;
  const auto& replay = *workload.replay;
  const std::int64_t last = replay.count ? replay.first + *replay.count : std::numeric_limits<std::int64_t>::max();
  read_to_the_end(scenario->folder / replay.trace, replay.format.value_or(""), last, scenario->where_trace,
                  diagnostics);
}

void lint_sweep(const fs::path& file, Diagnostics& diagnostics) {
  explore::PlanChanges changes;
  changes.is_space = true;  // what 'optimize' takes is no mistake
  changes.all_mistakes = true;
  const auto plan = explore::load_plan(file, changes, diagnostics);
  if (!plan) return;
  const auto open =
      std::ranges::find_if(plan->axes(), [](const explore::Axis& axis) { return axis.interval.has_value(); });
  if (plan->config().sample || open == plan->axes().end()) return explore::check_plan(*plan, catalogs(), diagnostics);
  Diagnostics of_values;
  explore::check_space(*plan, catalogs(), false, of_values);
  diagnostics.add(of_values);
  if (!diagnostics.has_errors())
    diagnostics.warning(open->where,
                        fmt::format("'{}' takes any value between two ends: without 'sample' only 'optimize' takes "
                                    "this plan",
                                    open->columns.front()));
}

void lint_study(const fs::path& file, Diagnostics& diagnostics) {
  if (const auto study = studies::read_study(file, diagnostics))
    studies::check_scenarios(*study, remembering_catalogs(), diagnostics);
}

void lint_file(const fs::path& file, FileKind kind, Diagnostics& diagnostics) {
  switch (kind) {
    case FileKind::scenario: return lint_scenario(file, diagnostics);
    case FileKind::sweep: return lint_sweep(file, diagnostics);
    case FileKind::study: return lint_study(file, diagnostics);
    case FileKind::model: models::load_model_file(file, diagnostics); return;
    case FileKind::trace: {
      const SourceRange where{std::make_shared<const SourceText>(SourceText{file.string(), ""})};
      return read_to_the_end(file, "", std::numeric_limits<std::int64_t>::max(), where, diagnostics);
    }
    case FileKind::device:
      if (auto tree = read_description(file, kind, diagnostics))
        complete_device(std::move(*tree), catalogs(), diagnostics);
      return;
    case FileKind::workload:
      if (auto tree = read_description(file, kind, diagnostics)) complete_workload(std::move(*tree), diagnostics);
      return;
    case FileKind::rows: validation::read_row_mapping(file, diagnostics); return;
    case FileKind::host_constants: validation::read_host_constants(file, diagnostics); return;
    case FileKind::dram:
    case FileKind::host:
    case FileKind::link:
    case FileKind::node:
    case FileKind::tier:
    case FileKind::prices:
      if (auto tree = read_description(file, kind, diagnostics)) complete_part(std::move(*tree), kind, diagnostics);
      return;
  }
}

bool is_plural(FileKind kind) {
  return kind == FileKind::prices || kind == FileKind::rows || kind == FileKind::host_constants;
}

int lint(const std::vector<std::string>& files, const Messages& messages) {
  Diagnostics all;
  for (const std::string& file : files) {
    const FileKind kind = kind_of(file);
    Diagnostics diagnostics;  // its own: a scenario is not read further once there are errors
    lint_file(file, kind, diagnostics);
    all.add(diagnostics);
    if (!diagnostics.has_errors())
      fmt::print("{}: {}{} without mistakes\n", file, is_plural(kind) ? "" : "a ", name_of(kind));
  }
  messages.show(all, "See 'llmscape show fields'.");
  return all.has_errors() ? kUsage : kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto messages = std::make_shared<Messages>();
  CLI::App* verb = app.add_subcommand(
      "lint", "Check scenarios, sweeps, studies, devices and parts, models, workloads, traces: every mistake");
  verb->footer(kFooter);
  verb->add_option("files", *files, "Files to check")->type_name("FILE")->required();
  messages->add_options(*verb);
  verb->callback([files, messages, &session] { session.exit_code = lint(*files, *messages); });
}

}  // namespace llmscape::cli::lint_verb
