// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/optimize_plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "sim/explore/comparable.hpp"
#include "sim/explore/halving.hpp"

namespace llmscape::explore {
namespace {

constexpr double kMostConfigurations = 1ULL << 53;  // that have numbers of their own

// How far short runs of a rung have come, over all batches.
struct Rung {
  Store store;
  std::vector<Short> known;
};

class PlanOptimizer {
 public:
  PlanOptimizer(const Plan& plan, const PlanOptimization& query, PointNames& names, const Store& store,
                const SweepOptions& options)
      : plan_(plan), query_(query), names_(names), store_(store), options_(options), progress_(options.progress),
        runner_(plan, names, options_), genes_(genes_of(plan)), numbered_(configurations_of(plan).has_value()),
        guarded_(guarded_in_objectives()) {
    table_.axes = plan.columns();
    for (const Axis& axis : plan.axes()) values_.push_back(values_tried(axis));
    std::filesystem::create_directories(store.folder());
    options_.progress = [](std::uint64_t, std::uint64_t) {};
    for (std::size_t i = 0; query.halving && i < kRungs.size(); ++i) {
      rungs_.push_back({Store(store.folder() / "rungs" / std::to_string(i)), {}});
      std::filesystem::create_directories(rungs_.back().store.folder());
    }
  }

  OptimizationCounts optimize() {
    OptimizerQuery query;
    query.genes = genes_;
    query.objectives = query_.objectives.size();
    query.algorithm = query_.algorithm;
    query.evaluations = query_.evaluations;
    query.seed = query_.seed;
    query.initial = std::max<std::size_t>(16, query_.evaluations / 5);
    query.excluded = [this](const Genome& genome) { return !plan_.point_of(chosen(genome), 0); };
    query.evaluate = [this](const std::vector<Genome>& genomes) { return evaluate(genomes); };
    explore::optimize(query);
    std::ranges::sort(table_.rows, {}, &ResultRow::point);
    std::size_t at = 0;
    write_results(plan_, store_, [&]() -> std::optional<ResultRow> {
      return at < table_.rows.size() ? std::optional(table_.rows[at++]) : std::nullopt;
    });
    return counts_;
  }

 private:
  struct Evaluation {
    std::uint64_t number = 0;  // of the configuration
    Genome genome;
    Judged judged;
    bool dropped = false;
  };

  [[nodiscard]] std::vector<Choice> chosen(const Genome& genome) const {
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < genome.size(); ++i) choices.push_back(values_[i][genome[i]]);
    return choices;
  }

  // Its place in the plan, the last axis fastest; where there are too many, in the order of evaluation.
  std::uint64_t number_of(const Genome& genome) {
    const std::uint64_t in_turn = counts_.configurations++;
    if (!numbered_) return in_turn;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < genome.size(); ++i) number = number * genes_[i].values + genome[i];
    return number;
  }

  // One for each seed.
  [[nodiscard]] std::vector<Point> points_of(const Evaluation& evaluation,
                                             const std::vector<std::string>& more = {}) const {
    std::vector<Point> points;
    const auto repeat = static_cast<std::uint64_t>(plan_.config().repeat);
    for (std::uint64_t i = 0; i < repeat; ++i) {
      points.push_back(*plan_.point_of(chosen(evaluation.genome), evaluation.number * repeat + i));
      points.back().overrides.insert(points.back().overrides.end(), more.begin(), more.end());
    }
    return points;
  }

  std::vector<Judged> evaluate(const std::vector<Genome>& genomes) {
    std::vector<Judged> judged(genomes.size());
    if (options_.interrupted()) counts_.interrupted = true;
    if (counts_.interrupted || !counts_.incomparable.empty()) return judged;
    std::vector<Evaluation> batch;
    for (const Genome& genome : genomes) batch.push_back({number_of(genome), genome, {}, false});
    for (std::size_t i = 0; i < rungs_.size(); ++i) climb(batch, rungs_[i], kRungs[i]);
    run_at_length(batch);
    find_incomparable();
    progress_(counts_.configurations, query_.evaluations);
    for (std::size_t i = 0; i < batch.size(); ++i) judged[i] = std::move(batch[i].judged);
    return judged;
  }

  static bool is_of_peaks(const Limit& limit) {
    const auto has_peak = [](const Expression& side) {
      return std::ranges::any_of(guarded_in(side), [](const auto* column) { return !is_sum(*column->metric); });
    };
    return has_peak(limit.left) || has_peak(limit.right);
  }

  [[nodiscard]] std::vector<const metrics::Column*> guarded_in_objectives() const {
    std::vector<const metrics::Column*> all;
    for (const Objective& objective : query_.objectives)
      std::ranges::copy(guarded_in(objective.expression), std::back_inserter(all));
    return all;
  }

  void find_incomparable() {
    const auto look_at = [this](const Expression& expression) {
      if (counts_.incomparable.empty()) counts_.incomparable = incomparable(expression, table_, query_.include_invalid);
    };
    for (const Objective& objective : query_.objectives) look_at(objective.expression);
    for (const Limit& limit : query_.slo) {
      look_at(limit.left);
      look_at(limit.right);
    }
  }

  // Runs what is left of the batch at a part of its length, and drops what is hopeless.
  void climb(std::vector<Evaluation>& batch, Rung& rung, double share) {
    std::vector<Evaluation*> shorter;
    std::vector<std::vector<Point>> points;
    std::vector<std::string> rules;                         // of windows, as asked for
    std::vector<std::vector<std::int64_t>> most_sequences;  // of pools
    for (Evaluation& evaluation : batch) {
      if (evaluation.dropped) continue;
      Diagnostics unheard;  // a scenario that is refused is refused at full length too, and counted there
      const auto scenario = scenario_of(plan_, points_of(evaluation).front(), options_.catalogs, unheard);
      const auto overrides = scenario ? shortened(*scenario, share) : std::nullopt;
      if (!overrides) continue;
      shorter.push_back(&evaluation);
      points.push_back(points_of(evaluation, *overrides));
      rules.push_back(std::string(metrics::name_of(scenario->config.window.rule)));
      most_sequences.emplace_back();
      for (const scenario::PoolConfig& pool : scenario->pools)
        most_sequences.back().push_back(pool.batcher->max_sequences());
      counts_.full_lengths += share;
    }
    run(rung.store, points);
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      const std::vector<ResultRow> rows = rows_of(points[i], rung.store);
      shorter[i]->judged = judge(rows, true);
      Short& known = rung.known.emplace_back(Short{shorter[i]->judged.losses, shorter[i]->judged.violation});
      known.rule = rules[i];
      if (!rows.empty()) known.over = extent_of(configurations({{}, table_.axes, rows}).front());
      for (const ResultRow& row : rows) {
        std::ranges::move(done_in(row, most_sequences[i]), std::back_inserter(known.metrics));
        // What is saturated by a part of its requests is so by all of them.
        const bool counts = row.verdict != "saturated" || query_.include_invalid;
        known.fell_back = known.fell_back || (counts && row.window_rule != known.rule);
      }
    }
    const std::vector<bool> drop = hopeless(rung.known, shorter.size(), guarded_);
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      if (!drop[i]) continue;
      shorter[i]->dropped = true;
      ++counts_.dropped;
      // Losses of a short run must not stand beside those of whole ones: it counts as one that violates a constraint.
      shorter[i]->judged.violation = std::max(shorter[i]->judged.violation, 1e-6);
    }
  }

  void run_at_length(std::vector<Evaluation>& batch) {
    std::vector<std::vector<Point>> points;
    for (const Evaluation& evaluation : batch)
      if (!evaluation.dropped) points.push_back(points_of(evaluation));
    const SweepCounts ran = run(store_, points);
    counts_.failed += ran.failed;
    counts_.refused += ran.refused;
    counts_.full_lengths += static_cast<double>(points.size());
    std::size_t at = 0;
    for (Evaluation& evaluation : batch) {
      if (evaluation.dropped) continue;
      std::vector<ResultRow> rows = rows_of(points[at++], store_);
      evaluation.judged = judge(rows, false);
      std::ranges::move(rows, std::back_inserter(table_.rows));
    }
  }

  SweepCounts run(const Store& store, const std::vector<std::vector<Point>>& points) {
    std::size_t at = 0, repeat = 0;
    const SweepCounts counts = runner_.run(store, 0, [&]() -> std::optional<Point> {
      if (at == points.size()) return std::nullopt;
      Point point = points[at][repeat];
      if (++repeat == points[at].size()) {
        ++at;
        repeat = 0;
      }
      return point;
    });
    counts_.interrupted = counts_.interrupted || counts.interrupted;
    counts_.damaged.insert(counts_.damaged.end(), counts.damaged.begin(), counts.damaged.end());
    return counts;
  }

  // Of those points that have run.
  std::vector<ResultRow> rows_of(const std::vector<Point>& points, const Store& store) {
    std::vector<ResultRow> rows;
    for (const Point& point : points)
      if (auto row = row_of(point, names_.of(point), store)) rows.push_back(std::move(*row));
    return rows;
  }

  // Noise is no reason to look elsewhere: neighbours would be walled off. That a run of a part of the length is
  // unsteady says nothing of the whole either: it may be too short for any verdict.
  [[nodiscard]] Judged judge(const std::vector<ResultRow>& rows, bool shortened) const {
    Judged judged;
    if (rows.size() < static_cast<std::size_t>(plan_.config().repeat)) return judged;
    ResultsTable one{{}, table_.axes, rows};
    const Configuration configuration = configurations(one).front();
    for (const Objective& objective : query_.objectives) {
      const auto estimate = estimate_of(objective, one, configuration);
      if (!estimate) return {};
      judged.losses.push_back(objective.loss(estimate->value));
    }
    const bool means_something = configuration.verdict == "valid" || configuration.verdict == "noisy" ||
                                 (shortened && configuration.verdict == "unsteady");
    if (!means_something && !query_.include_invalid) judged.violation += 1;
    if (const auto lost = lost_unasked(query_.slo, one, configuration); lost) judged.violation += *lost;
    for (const Limit& limit : query_.slo) {
      const auto sides = sides_of(limit, one, configuration);
      const double by = sides ? margin(limit, *sides) : -1;
      if (sides && keeps(limit, by, sides->right)) continue;
      const double scale = sides ? std::max(std::abs(sides->right), 1e-12) : 1;
      // Of slices that grow with the run: what peaks in short ones is no reason to drop a design.
      const double most = shortened && is_of_peaks(limit) ? 0.5 : std::numeric_limits<double>::infinity();
      judged.violation += std::clamp(-by / scale, 1e-6, most);
    }
    return judged;
  }

  const Plan& plan_;
  const PlanOptimization& query_;
  PointNames& names_;
  const Store& store_;
  SweepOptions options_;                                                  // of one batch
  std::function<void(std::uint64_t ended, std::uint64_t all)> progress_;  // of all
  PointRunner runner_;
  std::vector<Gene> genes_;
  std::vector<std::vector<Choice>> values_;  // of each gene
  bool numbered_;
  std::vector<const metrics::Column*> guarded_;  // metrics of the objectives that not all runs are comparable by
  std::vector<Rung> rungs_;
  ResultsTable table_;  // of what ran at full length
  OptimizationCounts counts_;
};

}  // namespace

std::vector<Choice> values_tried(const Axis& axis) {
  if (!axis.interval) return axis.choices;
  Axis spread = axis;
  const double whole = axis.interval->high - axis.interval->low + 1;
  std::size_t count = kIntervalValues;
  if (axis.interval->whole && whole < static_cast<double>(kIntervalValues)) {
    count = static_cast<std::size_t>(whole);
    spread.interval->log = false;  // all of them, however samples are spread
  }
  std::vector<Choice> values;
  for (std::size_t i = 0; i < count; ++i) {
    Choice choice = spread.at((static_cast<double>(i) + 0.5) / static_cast<double>(count));
    if (values.empty() || values.back().values != choice.values) values.push_back(std::move(choice));
  }
  return values;
}

std::vector<Gene> genes_of(const Plan& plan) {
  std::vector<Gene> genes;
  for (const Axis& axis : plan.axes()) {
    if (axis.interval) {
      genes.push_back({Gene::Kind::continuous, values_tried(axis).size()});
    } else {
      const bool numbers = std::ranges::all_of(axis.choices, [](const Choice& choice) {
        return std::holds_alternative<double>(value_of(choice.values.front()));
      });
      genes.push_back({numbers ? Gene::Kind::ordered : Gene::Kind::category, axis.choices.size()});
    }
  }
  return genes;
}

std::optional<std::uint64_t> configurations_of(const Plan& plan) {
  double all = 1;
  for (const Gene& gene : genes_of(plan)) all *= static_cast<double>(gene.values);
  return all < kMostConfigurations ? std::optional(static_cast<std::uint64_t>(all)) : std::nullopt;
}

OptimizationCounts optimize_plan(const Plan& plan, const PlanOptimization& query, PointNames& names, const Store& store,
                                 const SweepOptions& options) {
  return PlanOptimizer(plan, query, names, store, options).optimize();
}

}  // namespace llmscape::explore
