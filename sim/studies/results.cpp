// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

#include "sim/result/result_json.hpp"
#include "sim/run/analytic.hpp"
#include "sim/run/pool.hpp"
#include "sim/run/run.hpp"

namespace llmscape::studies {
namespace {

// Simulations that differ by their seed alone and share a child process: a fork costs as much as a short simulation.
struct Task {
  std::size_t study, run, point;
  std::int64_t first_seed, last_seed;
};
constexpr std::int64_t kSeedsOfTask = 5;

// What a child says of a seed: its result, or why there is none.
constexpr char kResult = 'r', kFailure = 'f', kEnd = '\0';

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
  world::Options options;
  options.kernel = world::KernelKind::event_queue;  // SimGrid's bytes in a fifth less time
  const result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  if (diagnostics.has_errors()) throw std::invalid_argument(diagnostics.text(false));
  return result::to_json(result);
}

std::string results_of(const Study& study, const Task& task, const scenario::Catalogs& catalogs) {
  std::string all;
  for (std::int64_t seed = task.first_seed; seed <= task.last_seed; ++seed) {
    try {
      all += kResult + result_of(study, study.runs[task.run], task.point, seed, catalogs);
    } catch (const std::exception& error) {
      all += std::string(1, kFailure) + error.what();
    }
    all += kEnd;
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
  run::run_forked(
      tasks.size(), [&](std::size_t i) { return results_of(studies[tasks[i].study], tasks[i], catalogs); },
      {jobs, std::nullopt, std::nullopt},
      [&](std::size_t i, run::TaskOutcome outcome) {
        const Task& task = tasks[i];
        std::size_t begin = 0;
        for (std::int64_t seed = task.first_seed; seed <= task.last_seed; ++seed) {
          Outcome& out = results[task.study].at(task.run, task.point, seed);
          if (!outcome.ok) {  // the child died: none of its seeds has a result
            out.why = outcome.text;
            continue;
          }
          const std::size_t end = outcome.text.find(kEnd, begin);
          (outcome.text[begin] == kResult ? out.text : out.why) = outcome.text.substr(begin + 1, end - begin - 1);
          begin = end + 1;
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
