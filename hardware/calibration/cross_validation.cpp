// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace llmscape::hardware {
namespace {

constexpr int kShapeFolds = 5;
constexpr std::uint64_t kShapeFoldKey = 0x67656d6d;  // any fixed number
constexpr double kCoverage = 0.9;
constexpr std::size_t kFewestForQuantiles = 20;

using Rows = std::vector<std::size_t>;

Rows all_rows(const FormProblem& problem) {
  Rows all(problem.measured.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

FitOutcome fit_rows(const FormProblem& problem, const Rows& rows, int starts) {
  FitProblem fit{problem.parameters, {}, {}};
  for (const std::size_t row : rows) fit.measured.push_back(problem.measured[row]);
  fit.predict = [&](std::span<const double> parameters, std::span<double> predicted) {
    std::ranges::transform(rows, predicted.begin(), problem.form(parameters));
  };
  return fit_in_log(fit, starts);
}

// The fitted form, with what its rows say beside it.
FormProblem::Pricing pricing(const FormProblem& problem, std::span<const double> parameters, const Rows& seen) {
  auto time = problem.form(parameters);
  return problem.refined ? problem.refined(time, seen) : time;
}

// Predictions beside what was measured.
struct Comparison {
  std::vector<double> predicted, measured;
  void add(double prediction, double measurement) {
    predicted.push_back(prediction);
    measured.push_back(measurement);
  }
  [[nodiscard]] std::vector<double> residuals() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < measured.size(); ++i) all.push_back(std::log(measured[i] / predicted[i]));
    return all;
  }
  [[nodiscard]] ErrorSummary errors() const { return summarise(predicted, measured); }
  [[nodiscard]] std::optional<double> half_width() const { return conformal_half_width(residuals(), kCoverage); }
};

std::vector<double> deciles(std::vector<double> residuals) {
  if (residuals.size() < kFewestForQuantiles) return {};
  std::ranges::sort(residuals);
  std::vector<double> all;
  for (std::size_t i = 0; i <= 10; ++i) all.push_back(residuals[(residuals.size() - 1) * i / 10]);
  return all;
}

std::size_t distinct(std::vector<Group> groups) {
  std::ranges::sort(groups);
  return static_cast<std::size_t>(std::unique(groups.begin(), groups.end()) - groups.begin());
}

constexpr std::size_t kRowsToChooseBy = 160;
constexpr std::uint64_t kChoiceKey = 0x666f726d;  // any fixed number
// What another form's loss has to come down to, as a share of the first one's: among a dozen forms one fits a few dozen
// rows better by chance.
constexpr double kClearlyBetter = 0.93;

std::size_t best_form(std::span<const FormProblem> forms, const Rows& rows) {
  if (forms.size() == 1) return 0;
  Rows some;
  for (const std::size_t i : random_subset(rows.size(), kRowsToChooseBy, kChoiceKey)) some.push_back(rows[i]);
  std::vector<double> losses;
  for (const FormProblem& form : forms) losses.push_back(fit_rows(form, some, 1).loss);
  const auto least = std::ranges::min_element(losses);
  return *least < kClearlyBetter * losses.front() ? static_cast<std::size_t>(least - losses.begin()) : 0;
}

// What fits to the other folds predict for each row, in seconds.
std::vector<double> held_out_predictions(std::span<const FormProblem> forms) {
  const FormProblem& problem = forms.front();
  std::vector<Group> groups = problem.groups;
  if (distinct(groups) < kShapeFolds)
    for (std::size_t row = 0; row < groups.size(); ++row) groups[row] = {static_cast<std::int64_t>(row)};
  const std::vector<int> fold_of = grouped_folds(groups, kShapeFolds, kShapeFoldKey);
  std::vector<double> predicted(problem.measured.size());
  for (int fold = 0; fold < kShapeFolds; ++fold) {
    Rows seen, held_out;
    for (std::size_t row = 0; row < fold_of.size(); ++row) (fold_of[row] == fold ? held_out : seen).push_back(row);
    // One start: the basin was found with all rows, and the prior medians lie in it.
    const FormProblem& form = forms[best_form(forms, seen)];
    const auto time = pricing(form, values_of(fit_rows(form, seen, 1).parameters), seen);
    for (const std::size_t row : held_out) predicted[row] = time(row);
  }
  return predicted;
}

}  // namespace

std::vector<double> values_of(const std::vector<FittedParameter>& fitted) {
  std::vector<double> values;
  for (const FittedParameter& p : fitted) values.push_back(p.value);
  return values;
}

double rough_loss(const FormProblem& problem) { return fit_rows(problem, all_rows(problem), 1).loss; }

void score(FamilyReport& report, std::span<const double> predicted) {
  Comparison all;
  std::array<Comparison, kRegimes> by_regime;
  for (const RowReport& row : report.rows) {
    all.add(row.held_out, row.measured);
    by_regime[static_cast<std::size_t>(row.regime)].add(row.held_out, row.measured);
  }
  report.in_sample = summarise(predicted, all.measured);
  report.held_out = all.errors();
  report.half_width = all.half_width();
  report.regimes.clear();
  for (std::size_t i = 0; i < kRegimes; ++i)
    if (const Comparison& rows = by_regime[i]; !rows.measured.empty())
      report.regimes.push_back(
          {std::string(kRegimeNames[i]), rows.errors(), rows.half_width(), deciles(rows.residuals())});
}

std::size_t best_form(std::span<const FormProblem> forms) { return best_form(forms, all_rows(forms.front())); }

FamilyReport fit(std::span<const FormProblem> forms, std::size_t& chosen, Scoring scoring) {
  if (scoring == Scoring::held_out) return fit_and_validate(forms, chosen);
  chosen = best_form(forms);
  FamilyReport report;
  report.fitted = fit_rows(forms[chosen], all_rows(forms[chosen]), 1).parameters;
  return report;
}

FamilyReport fit(const FormProblem& problem, Scoring scoring) {
  std::size_t chosen = 0;
  return fit({&problem, 1}, chosen, scoring);
}

FamilyReport fit_and_validate(const FormProblem& problem) {
  std::size_t chosen = 0;
  return fit_and_validate({&problem, 1}, chosen);
}

FamilyReport fit_and_validate(std::span<const FormProblem> forms, std::size_t& chosen) {
  chosen = best_form(forms);
  const FormProblem& problem = forms[chosen];
  const Rows all = all_rows(problem);
  FamilyReport report;
  report.family = problem.family;
  report.form = "physical";
  report.data = fmt::format("{} rows of {} shapes", all.size(), distinct(problem.groups));
  report.fitted = fit_rows(problem, all, 8).parameters;
  for (const FittedParameter& p : report.fitted)
    if (!p.identified())
      report.warnings.push_back(p.name +
                                (p.at_bound ? " is at an end of its range" : " is not identified, prior used"));

  const std::vector<double> held_out = held_out_predictions(forms);
  for (const std::size_t row : all) report.rows.push_back({problem.regime[row], problem.measured[row], held_out[row]});
  std::vector<double> predicted;
  std::ranges::transform(all, std::back_inserter(predicted), pricing(problem, values_of(report.fitted), all));
  score(report, predicted);
  return report;
}

}  // namespace llmscape::hardware
