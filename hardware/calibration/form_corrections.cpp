// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/form_corrections.hpp"

#include "hardware/calibration/errors.hpp"

#include <algorithm>

namespace llmscape::hardware {

std::optional<ApartCorrections> corrections_apart(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                                  std::span<const double> held_out,
                                                  std::span<const Relatives> relatives, bool coarse, double error) {
  // Of both kernels together.
  const auto enough = [&](const Relatives& with) { return rows.size() + with.rows.size() >= kFewestCorrectedRows; };
  ApartCorrections apart;
  apart.held_out.assign(held_out.begin(), held_out.end());
  std::vector<double> measured;
  for (const CorrectionRow& row : rows) measured.push_back(row.measured);
  for (const bool alone : {false, true}) {
    std::vector<CorrectionRow> own;
    std::vector<std::size_t> place;
    std::vector<double> before, then;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].alone != alone) continue;
      own.push_back(rows[i]);
      place.push_back(i);
      before.push_back(held_out[i]);
      then.push_back(rows[i].measured);
    }
    if (own.empty()) return std::nullopt;
    std::vector<Relatives> helpers;
    for (const Relatives& all : relatives) {
      if (!enough(all)) continue;
      Relatives& some = helpers.emplace_back(Relatives{{}, all.whose});
      std::ranges::copy_if(all.rows, std::back_inserter(some.rows),
                           [&](const CorrectionRow& row) { return row.alone == alone; });
    }
    auto best = best_correction(plans, own, helpers, coarse, summarise(before, then).mean, 0);
    if (!best) return std::nullopt;
    for (std::size_t i = 0; i < own.size(); ++i) apart.held_out[place[i]] = best->earned.held_out[i];
    (alone ? apart.alone : apart.grouped) = std::move(*best);
  }
  if (summarise(apart.held_out, measured).mean >= kWorthwhile * error) return std::nullopt;
  return apart;
}

}  // namespace llmscape::hardware
