// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

struct ElementwiseCalibration {
  ElementwiseParameters parameters;  // tagged as fitted
  FamilyReport report;               // held out: folds that share no width of a kind (rows, if it was timed in one
                                     // width or two); parameters as "norm.launch"
};

// Whether a record of this kind has a row of its own.
bool is_elementwise_kind(std::string_view kind);

// Fits launch + bytes / (efficiency x bandwidth) to each kind of kernel that has at least ten records; the other kinds
// stay as in `before`. Records of kinds without a row of their own (softmax, router) are passed over. With no
// kind to fit, the report is empty and the parameters are those of `before`.
ElementwiseCalibration fit_elementwise(const Chip& chip, std::span<const traces::TimedElementwise> records,
                                       const ElementwiseParameters& before);

}  // namespace llmscape::hardware
