// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/process_pool.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/analytic.hpp"
#include "sim/run/run.hpp"

namespace llmscape::studies {
namespace {

// Simulations that differ by their seed alone.
struct Task {
  std::size_t study, run, point;
  std::int64_t first_seed, last_seed;
  template <class Message>
  void cross(Message& m) {
    m(study, run, point, first_seed, last_seed);
  }
};
constexpr std::int64_t kSeedsOfTask = 5;
constexpr std::size_t kTasksOfChild = 256;

// What a child says of a seed: its result, or why there is none.
struct Told {
  std::string text, why;
  template <class Message>
  void cross(Message& m) {
    m(text, why);
  }
};

std::vector<std::string> overrides(const Study& study, const NamedRun& run, std::size_t point) {
  std::vector<std::string> all;
  if (study.kernels) all = run.kernels;
  all.insert(all.end(), run.set.begin(), run.set.end());
  if (!run.axis.empty()) all.push_back(run.axis[point].override);
  return all;
}

std::string result_of(const Study& study, const NamedRun& run, std::size_t point, std::int64_t seed,
                      const scenario::Catalogs& catalogs) {
  Diagnostics diagnostics;
  const auto scenario =
      scenario::load_scenario(run.scenario, overrides(study, run, point), seed, catalogs, diagnostics);
  if (!scenario) throw std::invalid_argument(diagnostics.text(false));
  if (run.analytic) {
    const auto analysis = run::analyse(*scenario, diagnostics);
    if (!analysis) throw std::invalid_argument(diagnostics.text(false));
    return run::to_json(*analysis);
  }
  const result::RunResult result = run::run_scenario(*scenario, run::one_of_many(), diagnostics);
  if (diagnostics.has_errors()) throw std::invalid_argument(diagnostics.text(false));
  return result::to_json(result);
}

std::vector<Told> results_of(const Study& study, const Task& task, const scenario::Catalogs& catalogs) {
  std::vector<Told> all;
  for (std::int64_t seed = task.first_seed; seed <= task.last_seed; ++seed) {
    try {
      all.push_back({result_of(study, study.runs[task.run], task.point, seed, catalogs), ""});
    } catch (const std::exception& error) {
      all.push_back({"", error.what()});
    }
  }
  return all;
}

}  // namespace

Results::Results(const Study& study) {
  for (const NamedRun& run : study.runs)
    outcomes_.emplace_back(run.points(), std::vector<Outcome>(static_cast<std::size_t>(run.seeds)));
}

void check_scenarios(const Study& study, const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  for (const NamedRun& run : study.runs) {
    Diagnostics own;
    for (std::size_t point = 0; point < run.points(); ++point)
      scenario::load_scenario(run.scenario, overrides(study, run, point), 1, catalogs, own);
    for (const Diagnostic& d : own.sorted()) {
      Diagnostic& added = d.severity == Severity::error ? diagnostics.error(d.where, d.message, d.suggestion)
                                                        : diagnostics.warning(d.where, d.message, d.suggestion);
      added.notes = d.notes;
      added.notes.push_back(fmt::format("run '{}', {}", run.name, place_of(run.where)));
    }
  }
}

std::vector<Results> simulate(const std::vector<Study>& studies, const scenario::Catalogs& catalogs, int jobs,
                              const std::function<void(double share)>& progress) {
  std::vector<Results> results;
  std::vector<Task> tasks;
  for (std::size_t s = 0; s < studies.size(); ++s) {
    results.emplace_back(studies[s]);
    for (std::size_t r = 0; r < studies[s].runs.size(); ++r)
      for (std::size_t p = 0; p < studies[s].runs[r].points(); ++p)
        for (std::int64_t seed = 1; seed <= studies[s].runs[r].seeds; seed += kSeedsOfTask)
          tasks.push_back({s, r, p, seed, std::min(seed + kSeedsOfTask - 1, studies[s].runs[r].seeds)});
  }
  std::size_t ended = 0;
  ProcessPool<Task, std::vector<Told>> pool(
      [&](const Task& task) { return results_of(studies[task.study], task, catalogs); },
      {jobs, std::nullopt, std::nullopt, kTasksOfChild});
  pool.run(tasks, [&](const Task& task, TaskOutcome<std::vector<Told>> outcome) {
    for (std::int64_t seed = task.first_seed; seed <= task.last_seed; ++seed) {
      Outcome& out = results[task.study].at(task.run, task.point, seed);
      if (!outcome.answer) {  // the child died: none of its seeds has a result
        out.why = outcome.error;
        continue;
      }
      Told& told = (*outcome.answer)[static_cast<std::size_t>(seed - task.first_seed)];
      out.text = std::move(told.text);
      out.why = std::move(told.why);
    }
    progress(static_cast<double>(++ended) / static_cast<double>(tasks.size()));
    return true;
  });
  // Only now: trees are ten times as large as their texts, and every fork copies the page tables of what is here.
  for (const Task& task : tasks)
    for (std::int64_t seed = task.first_seed; seed <= task.last_seed; ++seed) {
      Outcome& out = results[task.study].at(task.run, task.point, seed);
      if (!out.text.empty()) out.json = nlohmann::json::parse(out.text);
    }
  return results;
}

}  // namespace llmscape::studies
