// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/studies/results.hpp"

namespace llmscape::studies {

// A condition holds when it does for at least three seeds of four, and misses when it does for at most one of four;
// what lies between is a tie, and not counted as held.
enum class Verdict { holds, ties, misses, calibration };
std::string_view name_of(Verdict verdict);  // "holds", "ties", "misses", "calibration"
std::string_view name_of(ClaimKind kind);
std::string_view name_of(Evidence evidence);
inline constexpr std::array kClaimKinds = {ClaimKind::exact, ClaimKind::close, ClaimKind::range, ClaimKind::direction};

// What became of a claim.
struct ClaimOutcome {
  Verdict verdict = Verdict::misses;
  // Median over the seeds, and their 5 % and 95 % quantiles (nearest rank); absent if a seed has no value.
  std::optional<double> simulated, low, high;
  // Of a direction: the share of the seeds that it holds for.
  std::optional<double> share;
  std::int64_t seeds = 1;
  std::string nothing;  // why there is no value
  // The same with the catalogue's kernels, where the study has others.
  std::optional<double> catalogue;
  Verdict catalogue_verdict = Verdict::misses;
  Verdict as_claim = Verdict::misses;  // what it would be if it counted: of calibrations
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

// How many claims there are that count (no calibrations), and how many of them hold.
struct Count {
  std::size_t held = 0, counted = 0;
  std::size_t held_with_catalogue = 0;  // with the catalogue's kernels
  Count& operator+=(const Count& other);
};

// A study with what its simulations say, in the order of its lists.
struct StudyOutcome {
  const Study* study = nullptr;
  std::vector<ClaimOutcome> claims;
  std::vector<NegativeOutcome> negative;
  std::vector<bool> same;
  std::optional<DrawnFigure> figure;
  // Runs that failed, expressions without a value, misses and ties without a reason, reasons without either.
  std::vector<std::string> problems;

  // Of the claims of this kind, those of published evidence or the others.
  [[nodiscard]] Count count(ClaimKind kind, bool published) const;
  [[nodiscard]] Count negative_count() const;
  // All is as study.yaml declares it: no problem, and equal runs are equal.
  [[nodiscard]] bool as_declared() const;
  // And nothing misses or ties, declared or not.
  [[nodiscard]] bool all_hold() const;
};

// `catalogue`: the results of without_kernels(study), where the study has kernels of its own.
StudyOutcome judge(const Study& study, const Results& results, const Results* catalogue = nullptr);
// The study with the catalogue's kernels.
Study without_kernels(Study study);

}  // namespace llmscape::studies
