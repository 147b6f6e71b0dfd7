// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/opened_files.hpp"
#include "sim/explore/results_csv.hpp"
#include "sim/explore/run_row.hpp"
#include "sim/run/intervals.hpp"
#include "sim/run/run.hpp"

namespace llmscape::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLookedAt = 64;  // values of an axis that are checked before anything runs
constexpr std::uint64_t kPointsLookedAt = 20'000;
constexpr std::size_t kPointsOfChild = 256;

std::string scenario_text(const Plan& plan, const Point& point) {
  YamlNode tree = plan.base();
  Diagnostics unheard;  // the scenario was read with the same overrides
  for (const std::string& assignment : point.overrides) {
    apply_override(tree, assignment, unheard);
    scenario::spell_out_scenario(tree);
  }
  tree.set("seed", YamlNode::scalar(std::to_string(point.seed)));
  return write_yaml(tree);
}

}  // namespace

bool Shard::has(std::uint64_t turn) const {
  const std::uint64_t round = turn / count;
  const std::uint64_t first = hash64({reinterpret_cast<const char*>(&round), sizeof round}) % count;
  return (turn + first) % count == index;
}

std::optional<Point> ShardPoints::next() {
  while (at_ < plan_.size()) {
    auto point = plan_.point(at_++);
    if (point && shard_.has(turn_++)) return point;
  }
  return std::nullopt;
}

std::string run_point(const Plan& plan, const Point& point, const std::string& id, const scenario::Catalogs& catalogs,
                      const PointNames* names) {
  const OpenedFiles opened;
  Diagnostics diagnostics;
  const auto scenario = scenario_of(plan, point, catalogs, diagnostics);
  if (!scenario) throw std::invalid_argument(diagnostics.text(false));
  std::optional<result::Intervals> intervals;
  if (plan.config().intervals) intervals = run::predict_intervals(*scenario, 1, [] {});
  Series series;
  world::Options options = run::one_of_many();
  options.watcher = &series;
  if (!catalogs.remembered) options.prices = nullptr;
  result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  if (diagnostics.has_errors()) throw std::invalid_argument(diagnostics.text(false));
  result.intervals = std::move(intervals);
  return point_json(point, id, plan.columns(), scenario_text(plan, point),
                    names ? names->inputs_of(point, opened.paths()) : std::map<std::string, std::string>(), result,
                    series.lines());
}

PointRunner::PointRunner(const Plan& plan, PointNames& names, const SweepOptions& options)
    : plan_(plan), names_(names), options_(options),
      pool_(
          [this](const Named& named) -> Refusal {
            std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches children too; they are to finish
            try {
              const Store store(named.folder);
              store.keep_point(named.id, run_point(plan_, named.point, named.id, options_.catalogs, &names_));
            } catch (const std::invalid_argument& refused) {
              return refused.what();
            }
            return std::nullopt;
          },
          {options.jobs, plan.config().limits.time, plan.config().limits.memory, kPointsOfChild}) {}

SweepCounts PointRunner::run(const Store& store, std::uint64_t points,
                             const std::function<std::optional<Point>()>& next) {
  SweepCounts counts;
  counts.points = points;
  std::uint64_t ended = 0;
  const auto next_named = [&]() -> std::optional<Named> {
    for (;;) {
      if (options_.interrupted()) {
        counts.interrupted = true;
        return std::nullopt;
      }
      store.require();
      auto point = next();
      if (!point) return std::nullopt;
      std::string id = names_.of(*point);
      // A refusal is asked for again: what was missing may have come, and reading a scenario takes milliseconds.
      if (names_.has_run(store, id)) {
        ++counts.known;
        options_.progress(++ended, counts.points);
        continue;
      }
      if (store.is_damaged(id)) counts.damaged.push_back(store.set_aside(id));
      return Named{std::move(*point), std::move(id), store.folder().string()};
    }
  };
  pool_.run(next_named, [&](const Named& named, const TaskOutcome<Refusal>& outcome) {
    keep(named, outcome, store, counts);
    options_.progress(++ended, counts.points);
    return true;
  });
  return counts;
}

void PointRunner::keep(const Named& named, const TaskOutcome<Refusal>& outcome, const Store& store,
                       SweepCounts& counts) const {
  if (outcome.answer && !*outcome.answer) {
    ++counts.ran;
    return;
  }
  const std::string& why = outcome.answer ? **outcome.answer : outcome.error;
  const std::string log = fmt::format("#{}: {}\n{}\n", named.point.index, plan_.label(named.point), why);
  if (outcome.answer && plan_.config().skip_refused) {
    ++counts.refused;
    store.keep_refused(named.id, log);
  } else {
    ++counts.failed;
    store.keep_failed(named.id, log);
  }
}

SweepCounts run_sweep(const Plan& plan, PointNames& names, const Store& store, const SweepOptions& options) {
  std::uint64_t points = 0;
  for (ShardPoints all(plan, options.shard); all.next();) ++points;
  ShardPoints part(plan, options.shard);
  return PointRunner(plan, names, options).run(store, points, [&part] { return part.next(); });
}

namespace {

double sequences_per_step(const ResultRow& row) {
  const auto of = [&row](std::string_view name) {
    const auto& metric = row.metrics[static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data())];
    return metric ? metric->value : 0;
  };
  return of("steps") > 0 ? of("sequence_steps") / of("steps") : 0;
}

}  // namespace

std::optional<ResultRow> row_of(const Point& point, const std::string& id, const Store& store) {
  std::string error;
  const auto text = read_file(store.point(id), error);
  if (!text) return std::nullopt;
  ResultRow row;
  try {
    const auto point_file = nlohmann::json::parse(*text);
    row = row_of(point_file.at("result"));
    // Steps of prompts alone decode nothing: their mean stands for them.
    const auto most = point_file.at("series").find("largest_batch");
    if (most != point_file.at("series").end())
      row.largest_batch = std::max(most->get<double>(), sequences_per_step(row));
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  row.point = point.index;
  row.id = id;
  row.values = point.values;
  row.repeat = point.repeat;
  return row;
}

void write_results(const Plan& plan, const Store& store, const std::function<std::optional<ResultRow>()>& next) {
  store.require();
  AtomicFile file(store.results());
  file.append(csv_header(plan.columns(), plan.config().intervals));
  while (const auto row = next()) file.append(csv_row(*row, plan.config().intervals));
  file.commit();
}

MergeCounts merge_results(const Plan& plan, PointNames& names, const Store& store) {
  MergeCounts counts;
  std::uint64_t at = 0;
  write_results(plan, store, [&]() -> std::optional<ResultRow> {
    while (at < plan.size()) {
      const auto point = plan.point(at++);
      if (!point) continue;
      const std::string id = names.of(*point);
      const bool ran = names.has_run(store, id);
      if (auto row = ran ? row_of(*point, id, store) : std::nullopt) {
        ++counts.points;
        return row;
      }
      if (ran || store.is_damaged(id)) counts.damaged.push_back(store.set_aside(id));
      ++(fs::exists(store.failed(id))    ? counts.failed
         : fs::exists(store.refused(id)) ? counts.refused
                                         : counts.missing);
    }
    return std::nullopt;
  });
  return counts;
}

namespace {

// "the point a=1, b=2": a place in the base does not say for which values it is wrong.
std::string values_of(const Plan& plan, const Point& point) {
  std::string text;
  for (std::size_t column = 0; column < point.values.size(); ++column)
    text += (text.empty() ? "the point " : ", ") + plan.columns()[column] + "=" + point.values[column];
  return text;
}

// Adds what was found of a point. Where others run, a mistake that is in no value has the point's values as a note.
void add_found(const Diagnostics& found, const std::string& values, bool others_run, Diagnostics& all) {
  for (const Diagnostic& of_point : found.sorted()) {
    const bool in_value = of_point.where.source && of_point.where.source->name.starts_with("--set ");
    Diagnostic& added = all.add(of_point);
    if (!others_run || in_value) continue;
    added.notes.push_back(values);
    added.notes.emplace_back("others can run: 'skip_refused: true' in the plan leaves out those that cannot");
  }
}

}  // namespace

void warn_of_files(const Plan& plan, const Diagnostics& refused, const std::string& values, Diagnostics& diagnostics) {
  for (Diagnostic& mistake : refused.sorted()) {
    const auto& source = mistake.where.source;
    const auto is_of = [&source](const YamlNode& tree) {
      return tree.where.source && tree.where.source->name == source->name;
    };
    if (mistake.severity != Severity::error || !source || source->name.starts_with("--set ") || is_of(plan.tree()) ||
        is_of(plan.base()))
      continue;
    mistake.severity = Severity::warning;
    diagnostics.add(mistake).notes.push_back(
        fmt::format("'skip_refused' leaves out {}, as the file cannot be read", values));
    return;  // the first says that the file is none
  }
}

void check_plan(const Plan& plan, const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  std::set<std::pair<std::size_t, std::string>> looked_at;  // column and value
  std::map<std::size_t, std::size_t> values;                // of a column, that were looked at
  Diagnostics refused, left_out;                            // why the first one is; files that cannot be read
  std::vector<std::pair<Point, Diagnostics>> found;         // of points that cannot run
  bool any = false, one_runs = false;
  for (std::uint64_t i = 0; i < std::min(plan.size(), kPointsLookedAt); ++i) {
    const auto point = plan.point(i);
    if (!point) continue;
    bool fresh = !std::exchange(any, true);
    for (std::size_t column = 0; column < point->values.size(); ++column)
      if (values[column] < kLookedAt && looked_at.emplace(column, point->values[column]).second) {
        ++values[column];
        fresh = true;
      }
    // Where refused ones are left out, any that runs will do.
    if (!fresh && (one_runs || !plan.config().skip_refused)) continue;
    Diagnostics of_point;
    if (scenario_of(plan, *point, catalogs, of_point)) one_runs = true;
    if (plan.config().skip_refused) {
      warn_of_files(plan, of_point, values_of(plan, *point), left_out);
      if (!refused.has_errors() && of_point.has_errors()) refused = std::move(of_point);
      continue;
    }
    if (!of_point.sorted().empty()) found.emplace_back(*point, std::move(of_point));
  }
  for (const auto& [point, of_point] : found)
    add_found(of_point, of_point.has_errors() ? values_of(plan, point) : "", one_runs && of_point.has_errors(),
              diagnostics);
  if (!any) diagnostics.error(plan.config().exclude.front().where, "the plan has no point: all are excluded");
  else if (plan.config().skip_refused) diagnostics.add(one_runs ? left_out : refused);
}

}  // namespace llmscape::explore
