// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/fit.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/calibration/sampling.hpp"
#include "hardware/residuals.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// Timed rows of one operator family, and the form that shall explain them. `measured`, `groups` and `regime` have an
// entry for each row.
struct FormProblem {
  std::string family;
  std::vector<FreeParameter> parameters;
  std::vector<double> measured;  // seconds
  std::vector<Group> groups;     // rows of one shape: no fit is scored on a shape it has seen, unless there are too few
  std::vector<Regime> regime;
  // The time of a row in seconds, by its number, given the parameters.
  using Pricing = std::function<double(std::size_t row)>;
  std::function<Pricing(std::span<const double> parameters)> form;
  // What the rows that a form was fitted to say beside it; empty: nothing.
  std::function<Pricing(const Pricing& form, std::span<const std::size_t> seen)> refined;
};

// Fits the form to all rows, and to four fifths of the shapes at a time to predict the others. Warns of parameters that
// the rows do not identify.
FamilyReport fit_and_validate(const FormProblem& problem);

// The same where kernels have one of several forms, of the same rows: that one is fitted which explains some of the
// rows best (`best_form`), chosen anew for each four fifths of the shapes, so that no shape has a say in how it is
// predicted. `chosen`: the one for all rows.
FamilyReport fit_and_validate(std::span<const FormProblem> forms, std::size_t& chosen);

// Whether a fit is wanted with its errors, or its parameters alone, from one start: that of a relative, say.
enum class Scoring : std::uint8_t { held_out, none };
FamilyReport fit(std::span<const FormProblem> forms, std::size_t& chosen, Scoring scoring);
FamilyReport fit(const FormProblem& problem, Scoring scoring);
// By rough fits to at most 160 of the rows.
std::size_t best_form(std::span<const FormProblem> forms);

// Loss of a fit that starts from the prior medians alone: enough to choose between forms.
double rough_loss(const FormProblem& problem);

// Summarises the report's rows: held-out errors, of all and by regime (those that have rows), with half-widths of 90 %
// intervals and quantiles of the residuals where there are enough. In sample: of `predicted`.
void score(FamilyReport& report, std::span<const double> predicted);

// In the order of the problem's parameters.
std::vector<double> values_of(const std::vector<FittedParameter>& fitted);

}  // namespace llmscape::hardware
