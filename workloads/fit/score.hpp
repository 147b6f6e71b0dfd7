// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/fit/fit.hpp"

namespace llmscape::workloads {

// The largest distance between the shares of two samples below any length (Kolmogorov and Smirnov); 1 if one is empty.
double ks_distance(std::vector<double> one, std::vector<double> other);

// Of a figure of runs with different seeds: the mean, and the 2.5 % and 97.5 % quantiles.
struct SeedBand {
  double low = 0, mean = 0, high = 0;
};

// A figure of a recording beside that of the fit; absent where the recording is too short for it or says nothing of it.
struct FitFigure {
  std::optional<double> recorded;
  SeedBand fitted;
  [[nodiscard]] bool in_band() const { return recorded && fitted.low <= *recorded && *recorded <= fitted.high; }
};

// A length's distance from the recording, and that of the recording which the fit was made of: what was to be had.
struct LengthScore {
  double fit = 0, recordings = 0;
  // A fit may be two points worse than the recording that it stands for.
  [[nodiscard]] bool holds() const { return fit <= recordings + 0.02; }
};

struct FitScore {
  LengthScore prompt, output;
  std::optional<LengthScore> session_calls;  // how many a session has, where the fit has sessions
  FitFigure prompt_mean, output_mean;        // tokens
  FitFigure rate, fano_1_s, fano_60_s;       // calls per second; variance over mean
  FitFigure reuse;     // share of the prompt tokens, by a cache without end that is empty at the start
  FitFigure anywhere;  // the same of contents wherever they stood in an earlier prompt
  std::vector<std::pair<double, FitFigure>> fanos;  // by rising window in seconds, up to a quarter of the recording
  Recording sample;                                 // what the fit sent with the first seed
  // Within three points.
  [[nodiscard]] bool reuse_holds() const;
  [[nodiscard]] bool anywhere_holds() const;
};

// The workload run with seeds 1 to `seeds` for as long as `recorded`, beside it; `fitted_to` is what it was fitted to:
// `recorded` itself, or another part of the trace, whose figures are themselves known only as well as a part of such a
// length tells: bands are wider by that.
FitScore score(const WorkloadConfig& fitted, const Recording& fitted_to, const Recording& recorded, int seeds = 20);

// The figures in words: name, recorded, fit, what it may be, "yes" or "no".
std::vector<std::vector<std::string>> rows_of(const FitScore& score);
// The same as a table for a terminal.
std::string text_of(const FitScore& score);

}  // namespace llmscape::workloads
