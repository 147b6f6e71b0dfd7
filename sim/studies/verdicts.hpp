// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/studies/results.hpp"

namespace llmscape::studies {

enum class Verdict { holds, misses, calibration };
std::string_view name_of(Verdict verdict);  // "holds", "misses", "calibration"
std::string_view name_of(ClaimKind kind);

// What became of a claim.
struct ClaimOutcome {
  Verdict verdict = Verdict::misses;
  // Median over the seeds, and their 5 % and 95 % quantiles (nearest rank); absent if a seed has no value.
  std::optional<double> simulated, low, high;
  // Of a direction: the share of the seeds that it holds for. It holds for a claim when that is above one half.
  std::optional<double> share;
  std::int64_t seeds = 1;
  std::string nothing;  // why there is no value
  // The same with the catalogue's kernels, where the study has others.
  std::optional<double> catalogue;
  bool catalogue_holds = false;
};

struct NegativeOutcome {
  bool holds = false;
  double share = 0;
  std::int64_t seeds = 1;
  std::string nothing;
};

// A series of a figure with its values; absent ones are not drawn.
struct DrawnSeries {
  std::string name;
  std::vector<std::optional<double>> values;
};
struct DrawnFigure {
  std::string title, x, y;
  std::vector<std::string> labels;
  std::vector<double> places;  // of the labels, where all are numbers: an axis; else empty
  std::vector<DrawnSeries> series;
};

// A study with what its simulations say, in the order of its lists.
struct StudyOutcome {
  const Study* study = nullptr;
  std::vector<ClaimOutcome> claims;
  std::vector<NegativeOutcome> negative;
  std::vector<bool> same;
  std::optional<DrawnFigure> figure;
  // Runs that failed, expressions without a value, misses without a reason, reasons without a miss.
  std::vector<std::string> problems;

  // Of claims that count (no calibrations) of this kind.
  [[nodiscard]] std::size_t counted(ClaimKind kind) const;
  [[nodiscard]] std::size_t held(ClaimKind kind) const;
  // The same with the catalogue's kernels.
  [[nodiscard]] std::size_t held_with_catalogue(ClaimKind kind) const;
  // Every exact and close claim, direction, negative test and pair of equal runs holds, and there is no problem.
  [[nodiscard]] bool passed() const;
};

// `catalogue`: the results of without_kernels(study), where the study has kernels of its own.
StudyOutcome judge(const Study& study, const Results& results, const Results* catalogue = nullptr);
// The study with the catalogue's kernels.
Study without_kernels(Study study);

}  // namespace llmscape::studies
