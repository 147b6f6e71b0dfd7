// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "base/table.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/manifest.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/objective_options.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/cli/sweep_folder.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/whole_numbers.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/optimize_plan.hpp"
#include "sim/explore/pareto.hpp"
#include "sim/explore/space_check.hpp"
#include "sim/report/frontier.hpp"

namespace llmscape::cli::optimize_verb {
namespace {

constexpr const char* kFooter =
    R"(The space is a plan of a sweep: its axes with their lists, ranges, variants and `between` intervals.
What runs is kept as a sweep keeps it, so that 'pareto' and 'report' read the folder, and the same
command goes on after an interruption. Without --max and --min the plan's objectives count. With
one objective it finds the best configuration under the limits.

Examples:
  llmscape optimize space.yaml -o out --max output_tokens_per_joule --min ttft.p99
  llmscape optimize space.yaml -o out --evaluations 400 --slo 'ttft.p99<=200ms' --halving
  llmscape optimize space.yaml -o out --max output_tokens_per_joule --slo 'ttft.p99<=200ms'
  llmscape optimize space.yaml -o out --algorithm moead --seed 2)";

struct Arguments {
  std::string plan, folder, slo, algorithm = "nsga2";
  ObjectiveOptions objectives;
  std::vector<std::string> set;
  std::size_t evaluations = 200;
  std::uint64_t seed = 1;
  bool halving = false, include_invalid = false, overwrite = false, quiet = false;
  int jobs = default_jobs();
  Messages messages;
};

explore::PlanOptimization read_query(const Arguments& arguments, const explore::PlanNames& plan,
                                     Diagnostics& diagnostics) {
  explore::ResultsTable table;
  table.axes = plan.columns;
  explore::PlanOptimization query;
  const int before = diagnostics.errors();
  query.objectives = arguments.objectives.read(plan.tree, table, diagnostics);
  if (query.objectives.empty() && diagnostics.errors() == before)
    diagnostics.error({}, "no objectives", "say --max or --min, or 'objectives' in the plan");
  const YamlNode* planned = plan.tree.find("slo");
  Diagnostics unheard;  // what is wrong with the plan's is among what was said of the plan
  if (!arguments.slo.empty()) query.slo = explore::read_slo(arguments.slo, "--slo", table, diagnostics);
  else if (planned && !planned->text.empty())
    query.slo = explore::read_slo(planned->text, "slo", table, before == 0 ? diagnostics : unheard);
  query.include_invalid = arguments.include_invalid;
  query.algorithm =
      arguments.algorithm == "moead" ? explore::EvolutionaryAlgorithm::moead : explore::EvolutionaryAlgorithm::nsga2;
  query.evaluations = arguments.evaluations;
  query.seed = arguments.seed;
  query.halving = arguments.halving;
  return query;
}

// The frontier among what ran, then what it cost to find.
int tell(const explore::PlanOptimization& query, const explore::OptimizationCounts& counts, const explore::Plan& plan,
         const explore::Store& store, const Arguments& arguments) {
  Diagnostics diagnostics;
  const auto table = explore::read_results(store.folder(), diagnostics);
  arguments.messages.show(diagnostics);
  if (!table) return kBroken;
  explore::ParetoQuery pareto;
  pareto.objectives = arguments.objectives.read(plan.tree(), *table, diagnostics);  // their currency is known now
  std::string limits;
  for (const explore::Limit& limit : query.slo) limits += (limits.empty() ? "" : " and ") + limit.text;
  if (!limits.empty() && !explore::speaks_of_losses(query.slo))  // the rule that the search went by
    limits += fmt::format(" and lost_share <= {:g}%", 100 * explore::kMostLost);
  if (!limits.empty()) pareto.slo = Expression::parse(limits, {}, diagnostics);
  pareto.include_invalid = query.include_invalid;
  const explore::ParetoAnswer answer = explore::pareto(*table, pareto);
  const report::FrontierView view{*table, pareto, answer, {}, static_cast<std::size_t>(text_width(stdout))};
  std::fputs(report::frontier_text(view, arguments.messages.colour(stdout)).c_str(), stdout);
  const auto all = explore::configurations_of(plan);
  fmt::print("\n{} configurations evaluated{}", counts.configurations,
             all ? fmt::format(" of {} ({})", *all,
                               report::percent(static_cast<double>(counts.configurations) / static_cast<double>(*all)))
                 : "");
  if (query.halving)
    fmt::print("; {} dropped early, {:.1f} full lengths simulated", counts.dropped, counts.full_lengths);
  if (counts.failed > 0) fmt::print("; {} failed: see {}/failed", counts.failed, arguments.folder);
  fmt::print("\n{}: {} points\n", store.results().string(), table->rows.size());
  if (counts.interrupted) return kInterrupted;
  if (counts.failed > 0) return kPartly;
  return answer.points.empty() ? kFailed : kDone;
}

int optimize(const Arguments& arguments, const std::vector<std::string>& typed) {
  Diagnostics diagnostics;
  explore::PlanChanges changes;
  changes.set = arguments.set;
  changes.is_space = changes.all_mistakes = true;
  const scenario::Catalogs known = remembering_catalogs();
  const auto plan = explore::load_plan(arguments.plan, changes, diagnostics);
  explore::PlanOptimization query;
  // What was typed is looked at beside a plan that cannot run as well: all mistakes at once.
  if (const auto names =
          plan ? explore::PlanNames{plan->tree(), plan->columns()} : explore::names_in_plan(arguments.plan))
    query = read_query(arguments, *names, diagnostics);
  if (plan && plan->axes().empty()) diagnostics.error({}, "the plan varies nothing", "add axes");
  const bool money =
      counted_in(query.objectives).money || std::ranges::any_of(query.slo, [](const explore::Limit& limit) {
        return explore::counts_money(limit.left) || explore::counts_money(limit.right);
      });
  if (plan) explore::check_space(*plan, known, money, diagnostics);
  arguments.messages.show(diagnostics, "See 'llmscape show fields sweep' and 'llmscape list metrics'.");
  if (!plan || diagnostics.has_errors()) return kUsage;

  const explore::Store store(arguments.folder);
  if (!settle(*plan, store, {true, arguments.overwrite}, diagnostics)) {
    arguments.messages.show(diagnostics);
    return kUsage;
  }
  const Manifest manifest;
  catch_interrupts();
  explore::PointNames names(*plan, tool(), catalogs());
  Progress progress("optimize", arguments.quiet);
  explore::SweepOptions options;
  options.jobs = arguments.jobs;
  options.catalogs = known;
  options.interrupted = interrupted;
  options.progress = [&](std::uint64_t ended, std::uint64_t all) {
    progress.update(static_cast<double>(ended) / static_cast<double>(all));
  };
  const explore::OptimizationCounts counts = explore::optimize_plan(*plan, query, names, store, options);
  tell_damaged(counts.damaged);
  manifest.write(store.folder(), typed);
  for (const metrics::Column* column : counts.incomparable)
    diagnostics.error(
        {}, fmt::format("an objective or a limit is {}, and what it was taken over differs in length", column->name),
        explore::advice_on(*column->metric));
  if (!counts.incomparable.empty()) {
    arguments.messages.show(diagnostics, {},
                            fmt::format("{} configuration{} ran, and no more were looked at.", counts.configurations,
                                        counts.configurations == 1 ? "" : "s"));
    return kUsage;
  }
  return tell(query, counts, *plan, store, arguments);
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("optimize", "Find the frontier of a large space, or its best configuration, with few runs");
  verb->footer(kFooter);
  verb->add_option("plan", arguments->plan, "Plan of a sweep whose axes are the space")->type_name("FILE")->required();
  verb->add_option("-o,--output", arguments->folder, "Folder of the results; it is made if missing")
      ->type_name("DIR")
      ->required();
  verb->add_flag(kOverwrite, arguments->overwrite, kOverwriteText);
  arguments->objectives.add_options(*verb);
  verb->add_option("--slo", arguments->slo, "Limits that a configuration must keep, instead of the plan's")
      ->type_name("LIMITS");
  verb->add_option("--evaluations", arguments->evaluations, "Configurations that are evaluated at most")
      ->type_name("N")
      ->check(above_zero, "")
      ->capture_default_str();
  verb->add_option("--algorithm", arguments->algorithm, "nsga2, or moead, which runs one configuration at a time")
      ->type_name("NAME")
      ->check(CLI::IsMember({"nsga2", "moead"}).description(""))
      ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "Of the optimiser; runs have the scenario's")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag(
      "--halving", arguments->halving,
      "Run a quarter and a half of the requests first, and drop what is clearly dominated or far from the SLO");
  verb->add_flag("--include-invalid", arguments->include_invalid,
                 "Runs that are noisy, unsteady or saturated count too");
  verb->add_option("--set", arguments->set, "Lay a value over the base scenario. Repeatable")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("-j,--jobs", arguments->jobs, "Points at once; the results do not depend on it")
      ->type_name("N")
      ->check(above_zero, "")
      ->default_str("one for each processor");
  verb->add_flag("-q,--quiet", arguments->quiet, "No progress on stderr");
  arguments->messages.add_options(*verb);
  verb->callback([arguments, &session] { session.exit_code = optimize(*arguments, session.arguments); });
}

}  // namespace llmscape::cli::optimize_verb
