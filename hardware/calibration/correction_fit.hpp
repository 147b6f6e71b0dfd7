// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/sampling.hpp"
#include "hardware/gpu/correction.hpp"

#include <optional>
#include <span>
#include <vector>

namespace llmscape::hardware {

// A measured time beside what the physical form says of it.
struct CorrectionRow {
  // Kernels that the correction applies to, with the form's times in seconds: one, or the GEMMs of an expert layer.
  struct Kernel {
    Features features;
    double seconds = 0;
  };
  std::vector<Kernel> kernels;
  double rest = 0;  // seconds of what is not corrected
  double measured = 0;
  Group shape;         // rows of one shape are learned or held out together
  double weight = 1;   // in learning
  bool alone = false;  // an attention of heads that share no keys

  [[nodiscard]] double predicted() const;                   // by the form alone
  [[nodiscard]] double predicted(const Correction&) const;  // corrected
};

// Which features a table spans, and how far its points are apart; the rows say from where to where.
struct AxisPlan {
  Feature feature;
  double octaves = 1;
};
using CorrectionPlan = std::vector<std::vector<AxisPlan>>;

// The tables that serve each family, in the order in which they are tried: points far apart first.
using CorrectionPlans = std::vector<CorrectionPlan>;
// `chosen`: of rows that count because they took long (see kLaunchBound): of what should be short, only what was slow.
const CorrectionPlans& gemm_correction_plans(bool chosen = false);
// `tuned`: of rows some of which ran in kernels that are tuned for their shape.
const CorrectionPlans& expert_gemm_correction_plans(bool tuned = false);
// `windows`: of rows some of which a window cuts.
const CorrectionPlans& decode_attention_correction_plans(bool windows = false);
const CorrectionPlans& prefill_attention_correction_plans(bool windows = false);

// The tables that bring the form's times closest to the measured ones, under the loss of `fit_in_log`, as smooth as the
// rows allow.
Correction learn_correction(const CorrectionPlan& plan, std::span<const CorrectionRow> rows);

struct EarnedCorrection {
  Correction correction;         // learned from all rows
  std::vector<double> held_out;  // seconds for each row, by corrections that had not seen its shape
  double error = 0;              // their mean
};

// A correction where the rows earn it: at least `fewest` of them, relatives among them, a mean error on held-out shapes
// below `beaten`, and 90 % intervals that hold at least 85 % of held-out rows. `relatives` are rows of the same kernels
// on a sibling of the device, or of like kernels: they help to learn, less than the rows do, and are not scored. A
// shape is held out of them too.
inline constexpr std::size_t kFewestCorrectedRows = 150;
std::optional<EarnedCorrection> earn_correction(const CorrectionPlan& plan, std::span<const CorrectionRow> rows,
                                                double beaten, std::span<const CorrectionRow> relatives = {},
                                                std::size_t fewest = kFewestCorrectedRows);

// Rows that help to learn.
struct Relatives {
  std::vector<CorrectionRow> rows;
  const char* whose = "";
};
struct CorrectionTry {
  const CorrectionPlan* plan = nullptr;
  const Relatives* relatives = nullptr;
};
// Each plan with the help of each of `relatives` (nobody is one of them). Plans behind the first are left out where
// their tables have more than three points for each row, relatives' among them.
std::vector<CorrectionTry> correction_tries(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                            std::span<const Relatives> relatives);

// The least error that a plan earns, with the help that lowers it most, where plans behind others have to lower it
// clearly below theirs, and the first below `error`. `coarse`: the first plan counts.
struct BestCorrection {
  EarnedCorrection earned;
  const char* whose = "";  // of the relatives that helped
};
std::optional<BestCorrection> best_correction(const CorrectionPlans& plans, std::span<const CorrectionRow> rows,
                                              std::span<const Relatives> relatives, bool coarse, double error,
                                              std::size_t fewest = kFewestCorrectedRows);
// Corrections with more points or rows, or of more kernels, have to lower the error to this share of what went before.
inline constexpr double kWorthwhile = 0.95;

}  // namespace llmscape::hardware
