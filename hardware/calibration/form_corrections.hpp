// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/correction_fit.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/family_fits.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::hardware {

// Corrections of two kernels, each learned from its own rows.
struct ApartCorrections {
  BestCorrection grouped, alone;
  std::vector<double> held_out;  // seconds for each of the rows

  // Of a row by the kernel it ran in.
  [[nodiscard]] const Correction& of(const CorrectionRow& row) const {
    return (row.alone ? alone : grouped).earned.correction;
  }
};

// Such corrections where each is earned and both together bring the mean error clearly below `error`. `held_out`: by
// the form alone. The fewest rows that a correction needs count over both.
std::optional<ApartCorrections> corrections_apart(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                                  std::span<const double> held_out,
                                                  std::span<const Relatives> relatives, bool coarse, double error);

// Gives the form the correction that its rows earn, if any, and its report the errors of both together: one for all
// rows, or where heads that share no keys run in a kernel of their own, one for each kernel if that is clearly better.
template <class Parameters>
void add_earned_correction(FormFit<Parameters>& form, const CorrectionPlans& plans,
                           std::span<const Relatives> relatives, bool coarse) {
  FamilyReport& report = form.report;
  const double alone = report.held_out.mean;
  // `of_row`: the correction of a row.
  const auto tell = [&](const std::vector<double>& held_out, const auto& of_row, const std::string& how) {
    std::vector<double> predicted;
    for (std::size_t i = 0; i < form.rows.size(); ++i) {
      report.rows[i].held_out = held_out[i];
      predicted.push_back(form.rows[i].predicted(of_row(form.rows[i])));
    }
    report.form = "physical + residual table";
    report.data += fmt::format(" (form alone MAPE {:.1f} %, corrected by {})", 100 * alone, how);
    score(report, predicted);
  };
  auto best = best_correction(plans, form.rows, relatives, coarse, alone);
  if constexpr (requires { form.parameters.ungrouped_correction; }) {
    std::vector<double> held_out;
    for (std::size_t i = 0; i < form.rows.size(); ++i) held_out.push_back(report.rows[i].held_out);
    auto apart = form.parameters.ungrouped ? corrections_apart(plans, form.rows, held_out, relatives, coarse,
                                                               best ? best->earned.error : alone)
                                           : std::nullopt;
    if (apart) {
      tell(
          apart->held_out, [&](const CorrectionRow& row) -> const Correction& { return apart->of(row); },
          fmt::format("a table for each kernel: groups'{}, single heads'{}", apart->grouped.whose, apart->alone.whose));
      form.parameters.correction = std::move(apart->grouped.earned.correction);
      form.parameters.ungrouped_correction = std::move(apart->alone.earned.correction);
      return;
    }
  }
  if (!best) return;
  tell(
      best->earned.held_out, [&](const CorrectionRow&) -> const Correction& { return best->earned.correction; },
      std::string("a table") + best->whose);
  form.parameters.correction = std::move(best->earned.correction);
}

}  // namespace llmscape::hardware
