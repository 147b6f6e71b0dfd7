// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "base/standard_streams.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/manifest.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/cli/shard.hpp"
#include "sim/cli/sweep_folder.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/explore/sweep.hpp"
#include "sim/result/result.hpp"

namespace llmscape::cli::sweep_verb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(Every point runs in a process of its own and leaves points/<id>.json, whose name is a hash of
all that its result comes from: a finished point never runs again. results.csv has one row for
each. Parts of a plan (--shard) can run anywhere that sees the same folder; --merge then makes
results.csv.

Examples:
  llmscape sweep plan.yaml -o out
  llmscape sweep plan.yaml --dry-run
  llmscape sweep plan.yaml -o out --resume
  llmscape sweep scenario.yaml --axis workload.arrivals.rate='1 /s,2 /s,4 /s' -o out
  llmscape sweep plan.yaml -o out --shard 3/16
  llmscape sweep plan.yaml -o out --shard auto   # under Slurm or mpirun
  seq 16 | parallel llmscape sweep plan.yaml -o out --shard {}/16
  llmscape sweep --merge out)";

struct Arguments {
  std::string plan, folder, merge, shard;
  explore::PlanChanges changes;
  bool dry_run = false, list = false, resume = false, overwrite = false, quiet = false;
  int jobs = default_jobs();
  Messages messages;
};

std::uint64_t count_points(const explore::Plan& plan) {
  std::uint64_t points = 0;
  for (std::uint64_t i = 0; i < plan.size(); ++i) points += plan.point(i) ? 1 : 0;
  return points;
}

int list_points(const explore::Plan& plan, const explore::Shard& shard) {
  explore::PointNames names(plan, tool(), catalogs());
  explore::ShardPoints points(plan, shard);
  while (const auto point = points.next())
    fmt::print("#{}  {}  {}\n", point->index, names.of(*point), plan.label(*point));
  return kDone;
}

// How long one point takes: the first one is run, and forgotten.
std::optional<double> seconds_of_a_point(const explore::Plan& plan) {
  std::uint64_t first = 0;
  while (first < plan.size() && !plan.point(first)) ++first;
  const auto started = std::chrono::steady_clock::now();
  const auto outcome =
      in_child<bool>([&] { return !explore::run_point(plan, *plan.point(first), "", catalogs()).empty(); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  return outcome.answer ? std::optional(took.count()) : std::nullopt;
}

int tell_plan(const explore::Plan& plan, const Arguments& arguments) {
  Table table({"axis", "values", "first", "last"});
  std::size_t column = 0;
  for (const explore::Axis& axis : plan.axes())
    for (std::size_t i = 0; i < axis.columns.size(); ++i, ++column) {
      const bool any = axis.interval.has_value();
      const explore::Choice first = axis.at(0), last = axis.at(std::nextafter(1., 0.));
      table.row({axis.columns[i], any ? "any" : std::to_string(axis.choices.size()), first.values[i], last.values[i]});
    }
  const std::uint64_t points = count_points(plan);
  if (!table.empty()) fmt::print("{}\n", table.text());
  const char* why = plan.config().sample ? "excluded, or drawn before" : "excluded";
  fmt::print("{} points{}", points, points < plan.size() ? fmt::format(" ({} {})", plan.size() - points, why) : "");
  if (const auto seconds = seconds_of_a_point(plan))
    fmt::print("; the first takes {:.2g} s, all of them perhaps {:.2g} s with -j {}", *seconds,
               *seconds * static_cast<double>(points) / arguments.jobs, arguments.jobs);
  fmt::print("\n");
  return kDone;
}

int say(const explore::MergeCounts& merged, const explore::Store& store, const std::string& folder) {
  fmt::print("{}: {} points", store.results().string(), merged.points);
  if (merged.refused > 0)
    fmt::print(", {} left out because their scenario is refused: see {}/refused", merged.refused, folder);
  if (merged.missing > 0) fmt::print(", {} not run yet", merged.missing);
  if (merged.failed > 0) fmt::print(", {} failed: see {}/failed", merged.failed, folder);
  fmt::print("\n");
  return merged.failed > 0 ? kPartly : kDone;
}

int merge(const Arguments& arguments) {
  Diagnostics diagnostics;
  const explore::Store store(arguments.merge);
  const auto plan = explore::load_plan(store.plan(), {}, diagnostics);
  arguments.messages.show(diagnostics);
  if (!plan) return kUsage;
  explore::PointNames names(*plan, tool(), catalogs());
  const explore::MergeCounts merged = explore::merge_results(*plan, names, store);
  tell_damaged(merged.damaged);
  const int code = say(merged, store, arguments.merge);
  return merged.missing > 0 ? kPartly : code;
}

int sweep(const explore::Plan& plan, const explore::Shard& shard, const scenario::Catalogs& known,
          const Arguments& arguments, const std::vector<std::string>& typed) {
  const explore::Store store(arguments.folder);
  Diagnostics diagnostics;
  if (!settle(plan, store, {arguments.resume || !arguments.shard.empty(), arguments.overwrite}, diagnostics)) {
    arguments.messages.show(diagnostics);
    return kUsage;
  }
  Manifest manifest;
  catch_interrupts();
  explore::PointNames names(plan, tool(), catalogs());
  Progress progress("sweep", arguments.quiet);
  explore::SweepOptions options;
  options.jobs = arguments.jobs;
  options.shard = shard;
  options.catalogs = known;
  options.interrupted = interrupted;
  options.progress = [&progress](std::uint64_t ended, std::uint64_t all) {
    progress.update(static_cast<double>(ended) / static_cast<double>(all));
  };
  const explore::SweepCounts counts = explore::run_sweep(plan, names, store, options);
  tell_damaged(counts.damaged);
  if (shard.count > 1) {
    fmt::print("shard {}/{}: {} points, {} ran, {} known, {} refused, {} failed\n", shard.index + 1, shard.count,
               counts.points, counts.ran, counts.known, counts.refused, counts.failed);
    return counts.interrupted ? kInterrupted : counts.failed > 0 ? kPartly : kDone;
  }
  const explore::MergeCounts merged = explore::merge_results(plan, names, store);
  tell_damaged(merged.damaged);
  const int code = say(merged, store, arguments.folder);
  manifest.write(store.folder(), typed);
  if (counts.interrupted) {
    write_to_stderr("llmscape: interrupted; finished points are kept, --resume goes on\n");
    return kInterrupted;
  }
  if (merged.missing == 0) return code;
  write_to_stderr(fmt::format("llmscape: {} changed while its sweep ran: {} points are missing, --resume runs them\n",
                              arguments.folder, merged.missing));
  return kPartly;
}

int run_verb(const Arguments& arguments, const std::vector<std::string>& typed) {
  if (!arguments.merge.empty()) return merge(arguments);
  Diagnostics diagnostics;
  const auto shard = read_shard(arguments.shard, diagnostics);
  const std::string file =
      arguments.plan.empty() ? (fs::path(arguments.folder) / "plan.yaml").string() : arguments.plan;
  explore::PlanChanges changes = arguments.changes;
  changes.all_mistakes = true;
  const auto plan = explore::load_plan(file, changes, diagnostics);
  const scenario::Catalogs known = remembering_catalogs();
  if (plan) explore::check_plan(*plan, known, diagnostics);
  arguments.messages.show(diagnostics, "See 'llmscape show fields sweep'.");
  if (!plan || !shard || diagnostics.has_errors()) return kUsage;
  if (arguments.list) return list_points(*plan, *shard);
  if (arguments.dry_run) return tell_plan(*plan, arguments);
  return sweep(*plan, *shard, known, arguments, typed);
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("sweep", "Run many variants of a scenario");
  verb->footer(kFooter);
  CLI::Option* plan =
      verb->add_option("plan", arguments->plan, "Plan of a sweep, or a scenario; with --resume that of the folder")
          ->type_name("FILE");
  verb->add_option("-o,--output", arguments->folder, "Folder of the results; it is made if missing")->type_name("DIR");
  verb->add_flag(kOverwrite, arguments->overwrite, kOverwriteText)->needs("--output");
  verb->add_option("--axis", arguments->changes.axes, "One more axis. Repeatable")
      ->type_name("PATH=VALUES")
      ->allow_extra_args(false);
  verb->add_option("--set", arguments->changes.set, "Lay a value over the base scenario. Repeatable")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("--repeat", arguments->changes.repeat, "Runs of each point with other seeds, instead of the plan's")
      ->type_name("N")
      ->check(above_zero, "");
  verb->add_flag("--intervals", arguments->changes.intervals,
                 fmt::format("Run each point {} times more with kernel times drawn from the errors of their fits, for "
                             "intervals",
                             result::kIntervalRuns));
  verb->add_flag("--dry-run", arguments->dry_run,
                 "Run one point only, and say how many there are and how long they take");
  verb->add_flag("--list", arguments->list, "List the points with their names, and run nothing");
  verb->add_flag("--resume", arguments->resume, "Go on with what the folder holds: only what is missing runs");
  verb->add_option(
          "--shard", arguments->shard,
          "Run a part: 3/16 is the third of sixteen; auto takes both numbers from Slurm's or MPI's environment")
      ->type_name("I/N");
  CLI::Option* merge_folder =
      verb->add_option("--merge", arguments->merge, "Make results.csv from the points in this folder, and run nothing")
          ->type_name("DIR")
          ->excludes(plan);
  verb->add_option("-j,--jobs", arguments->jobs, "Points at once; the results do not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  // Points are merged as the folder's own plan has them, into its own results.csv.
  for (const char* of_runs : {"--output", "--axis", "--set", "--repeat", "--intervals", "--dry-run", "--list",
                              "--resume", "--shard", "--jobs"})
    merge_folder->excludes(verb->get_option(of_runs));
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] {
    const bool runs = arguments->merge.empty() && !arguments->list && !arguments->dry_run;
    if (runs && arguments->folder.empty()) throw CLI::RequiredError("--output DIR");
    if (arguments->merge.empty() && arguments->plan.empty() && !(arguments->resume && !arguments->folder.empty()))
      throw CLI::RequiredError("a plan (or --resume -o DIR, or --merge DIR)");
    session.exit_code = run_verb(*arguments, session.arguments);
  });
}

}  // namespace llmscape::cli::sweep_verb
