// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "traces/kernel_record.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// A kind needs so many records.
inline constexpr std::size_t kFewestElementwise = 10;

struct ElementwiseCalibration {
  ElementwiseParameters parameters;  // tagged as fitted
  FamilyReport report;               // held out: folds that share no width of a kind (rows, if it was timed in one
                                     // width or two); parameters as "norm.launch"
  bool all_kinds = false;            // none was left as it was before
};

// Why a record is of no kind that has a fit: in words; empty, if it is of one.
std::string why_no_elementwise(const traces::TimedElementwise& record);

// Fits launch + bytes / (efficiency x bandwidth) to each kind of kernel that has at least ten records; the other kinds
// stay as in `before`. Records of kinds without a row of their own (softmax, router) are passed over. With no
// kind to fit, the report is empty and the parameters are those of `before`.
ElementwiseCalibration fit_elementwise(const Chip& chip, std::span<const traces::TimedElementwise> records,
                                       const ElementwiseParameters& before);

}  // namespace llmscape::hardware
