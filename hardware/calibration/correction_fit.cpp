// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/correction_fit.hpp"

#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/near_solver.hpp"
#include "hardware/gpu/correction_basis.hpp"

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace llmscape::hardware {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

constexpr double kOutlier = 0.1;  // log residual from where the loss turns linear
constexpr int kReweightings = 4;
// What holds the tables where rows are few: rows that say "no bend here", and rows that say "no correction".
constexpr double kBendWeight = 0.2;
constexpr double kPullWeight = 0.1;

// Points that no row is near are held by their neighbours: they say what points farther apart say, at several times the
// work. Of 237 sets of the public tables one earns more points a row than this, for 0.2 points of error.
constexpr std::size_t kMostPointsOfRow = 3;
constexpr int kFolds = 5;
constexpr std::uint64_t kFoldKey = 0x636f7272;  // any fixed number
constexpr double kInterval = 0.9, kLeastCoverage = 0.85;

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

// Axes that span the rows.
Correction blank(const CorrectionPlan& plan, std::span<const CorrectionRow> rows) {
  Correction correction;
  for (const std::vector<AxisPlan>& axes : plan) {
    CorrectionTable& table = correction.tables.emplace_back();
    for (const AxisPlan& axis : axes) {
      double least = rows.front().kernels.front().features.log2(axis.feature), most = least;
      for (const CorrectionRow& row : rows)
        for (const auto& kernel : row.kernels) {
          least = std::min(least, kernel.features.log2(axis.feature));
          most = std::max(most, kernel.features.log2(axis.feature));
        }
      const double first = std::floor(least / axis.octaves), last = std::ceil(most / axis.octaves);
      table.axes.push_back(
          {axis.feature, std::exp2(first * axis.octaves), axis.octaves, static_cast<std::int64_t>(last - first) + 1});
    }
    table.percent.resize(points(table));
  }
  return correction;
}

std::size_t points(const Correction& correction) {
  std::size_t all = 0;
  for (const CorrectionTable& table : correction.tables) all += table.percent.size();
  return all;
}

// Moves all tables' values into one vector, as logarithms, and back.
Eigen::VectorXd values_of(const Correction& correction) {
  std::vector<double> all;
  for (const CorrectionTable& table : correction.tables)
    all.insert(all.end(), table.percent.begin(), table.percent.end());
  return Eigen::Map<const Eigen::VectorXd>(all.data(), index(all.size())) / 100;
}
void set_values(Correction& correction, const Eigen::VectorXd& logs) {
  Eigen::Index next = 0;
  for (CorrectionTable& table : correction.tables)
    for (double& percent : table.percent) percent = 100 * logs[next++];
}

// The weight of every value of the tables in the logarithm of each row's predicted time, as the tables stand. Kernels
// count by their share of the time.
Matrix design(const Correction& correction, std::span<const CorrectionRow> rows) {
  Entries entries;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double whole = rows[i].predicted(correction);
    for (const auto& kernel : rows[i].kernels) {
      const double share = kernel.seconds * correction.factor(kernel.features) / whole;
      Eigen::Index first = 0;
      for (const CorrectionTable& table : correction.tables) {
        TablePlace(table, kernel.features).each_corner([&](std::size_t point, double weight) {
          entries.emplace_back(index(i), first + index(point), share * weight);
        });
        first += index(table.percent.size());
      }
    }
  }
  Matrix matrix(index(rows.size()), index(points(correction)));
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

// The normal matrix of the rows that hold the tables.
Matrix smoothness(const Correction& correction) {
  Entries rows, pulls;
  Eigen::Index first = 0, row = 0;
  for (const CorrectionTable& table : correction.tables) {
    std::size_t stride = 1;
    for (std::size_t axis = table.axes.size(); axis-- > 0;) {
      const auto length = static_cast<std::size_t>(table.axes[axis].points);
      for (std::size_t point = 0; point < table.percent.size(); ++point) {
        if (point / stride % length + 2 >= length) continue;
        for (const auto& [offset, weight] : {std::pair{0, 1.0}, {1, -2.0}, {2, 1.0}})
          rows.emplace_back(row, first + index(point + static_cast<std::size_t>(offset) * stride), weight);
        ++row;
      }
      stride *= length;
    }
    first += index(table.percent.size());
  }
  Matrix bends(row, first);
  bends.setFromTriplets(rows.begin(), rows.end());
  for (Eigen::Index i = 0; i < first; ++i) pulls.emplace_back(i, i, kPullWeight);
  Matrix pull(first, first);
  pull.setFromTriplets(pulls.begin(), pulls.end());
  return kBendWeight * Matrix(bends.transpose() * bends) + pull;
}

// The plan, after one with points twice as far apart.
CorrectionPlans coarse_first(const CorrectionPlan& plan) {
  CorrectionPlan coarse = plan;
  for (auto& table : coarse)
    for (AxisPlan& axis : table) axis.octaves *= 2;
  return {std::move(coarse), plan};
}

CorrectionPlan with_table(CorrectionPlan plan, std::vector<AxisPlan> table) {
  plan.push_back(std::move(table));
  return plan;
}

// With a table over the seconds in each, an octave from point to point: where points are nearer, they take what rows of
// one batch size have in common for a law of time.
CorrectionPlans by_seconds(CorrectionPlans plans) {
  for (CorrectionPlan& plan : plans) plan = with_table(std::move(plan), {{Feature::seconds}});
  return plans;
}

Correction learned(const CorrectionPlan& plan, std::span<const CorrectionRow> rows, NearSolver& solver) {
  Correction correction = blank(plan, rows);
  const Matrix held = smoothness(correction);
  for (int i = 0; i < kReweightings; ++i) {
    const Matrix weight_of = design(correction, rows);
    const Eigen::VectorXd values = values_of(correction);
    Eigen::VectorXd residuals(index(rows.size()));
    for (std::size_t row = 0; row < rows.size(); ++row)
      residuals[index(row)] = std::log(rows[row].measured / rows[row].predicted(correction));
    Eigen::VectorXd weights = (1 + (residuals / kOutlier).array().square()).rsqrt();
    for (std::size_t row = 0; row < rows.size(); ++row) weights[index(row)] *= rows[row].weight;
    const Matrix weighted = weights.asDiagonal() * weight_of;
    const Matrix whole = Matrix(weight_of.transpose() * weighted) + held;
    set_values(correction, solver.solve(whole, weighted.transpose() * (residuals + weight_of * values), values));
  }
  // As many digits as a file has.
  for (CorrectionTable& table : correction.tables)
    for (double& percent : table.percent)
      percent = std::clamp(std::round(10 * percent) / 10, -kMostPercent, kMostPercent);
  return correction;
}

struct HeldOut {
  std::vector<double> predicted;
  double coverage = 0;  // of 90 % intervals from the residuals of the other folds
};

HeldOut hold_out(const CorrectionPlan& plan, std::span<const CorrectionRow> rows,
                 std::span<const CorrectionRow> relatives, NearSolver& solver) {
  std::vector<Group> shapes;
  for (const CorrectionRow& row : rows) shapes.push_back(row.shape);
  for (const CorrectionRow& row : relatives) shapes.push_back(row.shape);
  // Fewer shapes than folds: rows are held out one by one, as the forms' are (cross_validation.cpp).
  if (std::set<Group>(shapes.begin(), shapes.end()).size() < kFolds)
    for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i] = {static_cast<std::int64_t>(i)};
  const std::vector<int> fold_of = grouped_folds(shapes, kFolds, kFoldKey);
  HeldOut out{std::vector<double>(rows.size()), 0};
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<CorrectionRow> seen;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (fold_of[i] != fold) seen.push_back(rows[i]);
    for (std::size_t i = 0; i < relatives.size(); ++i)
      if (fold_of[rows.size() + i] != fold) seen.push_back(relatives[i]);
    const Correction correction = learned(plan, seen, solver);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (fold_of[i] == fold) out.predicted[i] = rows[i].predicted(correction);
  }
  const auto residual = [&](std::size_t i) { return std::abs(std::log(rows[i].measured / out.predicted[i])); };
  double held = 0;
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<double> others;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (fold_of[i] != fold) others.push_back(residual(i));
    const double half_width = conformal_half_width(std::move(others), kInterval).value_or(0);
    for (std::size_t i = 0; i < rows.size(); ++i) held += fold_of[i] == fold && residual(i) <= half_width;
  }
  out.coverage = held / static_cast<double>(rows.size());
  return out;
}

}  // namespace

double CorrectionRow::predicted() const {
  double sum = rest;
  for (const Kernel& kernel : kernels) sum += kernel.seconds;
  return sum;
}

double CorrectionRow::predicted(const Correction& correction) const {
  double sum = rest;
  for (const Kernel& kernel : kernels) sum += kernel.seconds * correction.factor(kernel.features);
  return sum;
}

Correction learn_correction(const CorrectionPlan& plan, std::span<const CorrectionRow> rows) {
  NearSolver solver;
  return learned(plan, rows, solver);
}

std::optional<EarnedCorrection> earn_correction(const CorrectionPlan& plan, std::span<const CorrectionRow> rows,
                                                double beaten, std::span<const CorrectionRow> relatives,
                                                std::size_t fewest) {
  if (rows.size() + relatives.size() < fewest) return std::nullopt;
  NearSolver solver;
  HeldOut held_out = hold_out(plan, rows, relatives, solver);
  std::vector<double> measured;
  for (const CorrectionRow& row : rows) measured.push_back(row.measured);
  const double error = summarise(held_out.predicted, measured).mean;
  if (error >= beaten || held_out.coverage < kLeastCoverage) return std::nullopt;
  std::vector<CorrectionRow> all(rows.begin(), rows.end());
  all.insert(all.end(), relatives.begin(), relatives.end());
  EarnedCorrection earned{learned(plan, all, solver), std::move(held_out.predicted), error};
  if (earned.correction.is_faster_for_slower()) return std::nullopt;
  return earned;
}

std::vector<CorrectionTry> correction_tries(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                            std::span<const Relatives> relatives) {
  std::vector<CorrectionTry> tries;
  for (const CorrectionPlan& plan : plans)
    for (const Relatives& helpers : relatives) {
      std::vector<CorrectionRow> all(rows.begin(), rows.end());
      all.insert(all.end(), helpers.rows.begin(), helpers.rows.end());
      if (&plan == &plans.front() || points(blank(plan, all)) <= kMostPointsOfRow * all.size())
        tries.push_back({&plan, &helpers});
    }
  return tries;
}

std::optional<BestCorrection> best_correction(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                              std::span<const Relatives> relatives, bool coarse, double error,
                                              std::size_t fewest) {
  std::optional<BestCorrection> best;
  const CorrectionPlan* plan = &plans.front();
  double beaten = kWorthwhile * error;
  for (const CorrectionTry& next : correction_tries(plans, rows, relatives)) {
    if (!coarse && next.plan == &plans.front()) continue;
    if (std::exchange(plan, next.plan) != next.plan) beaten = kWorthwhile * (best ? best->earned.error : error);
    auto earned = earn_correction(*next.plan, rows, beaten, next.relatives->rows, fewest);
    if (!earned) continue;
    beaten = earned->error;
    best = {std::move(*earned), next.relatives->whose};
  }
  return best;
}

const CorrectionPlans& gemm_correction_plans(bool chosen) {
  using enum Feature;
  static const CorrectionPlan whole = {{{rows}, {columns}, {depth}},
                                       {{rows}, {padding, 0.25}},
                                       {{wide_waves, 0.0625}},
                                       {{tall_waves, 0.0625}},
                                       {{bytes}}};
  static const CorrectionPlans all = by_seconds(coarse_first(whole)), slow = coarse_first(whole);
  return chosen ? slow : all;
}

const CorrectionPlans& expert_gemm_correction_plans(bool tuned_too) {
  using enum Feature;
  static const auto with = [](const CorrectionPlan& whole) {
    CorrectionPlans all = by_seconds(coarse_first(whole));
    // What the fastest tiles are, and whether weights or products are waited for, depends on all four sides at once.
    all.push_back(all.front());
    all.back().push_back({{rows, 4}, {experts, 4}, {columns, 2}, {depth, 2}});
    return all;
  };
  static const CorrectionPlan whole = {{{rows}, {experts}}, {{rows}, {columns}, {depth}}, {{bytes}}};
  static const CorrectionPlans plans = with(whole), tuned_plans = with(with_table(whole, {{tuned}, {rows, 2}}));
  return tuned_too ? tuned_plans : plans;
}

const CorrectionPlans& decode_attention_correction_plans(bool windows) {
  using enum Feature;
  static const CorrectionPlan whole = {
      {{sequences}, {context}, {kv_heads}}, {{streams}, {group}}, {{streams}, {context, 2}, {head_width}}, {{bytes}}};
  // Few features at a time, for sets of few rows.
  static const CorrectionPlan few = {
      {{streams, 2}, {context, 2}}, {{streams, 3}, {group}}, {{streams, 3}, {head_width}}, {{group}, {head_width}}};
  static const auto with = [](CorrectionPlans plans, CorrectionPlan last) {
    plans.push_back(std::move(last));
    return plans;
  };
  static const CorrectionPlans plans = with(coarse_first(whole), few),
                               cut_too = with(coarse_first(with_table(whole, {{cut}, {head_width}, {streams, 2}})),
                                              with_table(few, {{cut}, {streams, 2}}));
  return windows ? cut_too : plans;
}

const CorrectionPlans& prefill_attention_correction_plans(bool windows) {
  using enum Feature;
  static const CorrectionPlan whole = {{{heads}, {tokens}, {head_width}},
                                       {{heads}, {tokens}, {group, 2}},
                                       {{tokens}, {group}, {head_width}},
                                       {{sequences}, {tokens}},
                                       {{kv_heads}, {tokens}, {head_width}},
                                       {{reach}},
                                       {{bytes}}};
  static const CorrectionPlans plans = coarse_first(whole),
                               cut_too = coarse_first(with_table(whole, {{cut}, {head_width}, {heads, 2}}));
  return windows ? cut_too : plans;
}

}  // namespace llmscape::hardware
