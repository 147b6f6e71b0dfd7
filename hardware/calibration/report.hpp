// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/fit.hpp"
#include "hardware/residuals.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware {

// Rows of one family in steps of like size (hardware/residuals.hpp): errors of predictions that had not seen them.
struct RegimeReport {
  std::string name;  // "small"
  ErrorSummary held_out;
  std::optional<double> half_width;        // of the 90 % interval of log(measured / predicted)
  std::vector<double> residual_quantiles;  // of log(measured / predicted): 0, 10, ... 100 %; empty: too few rows

  template <class Message>
  void cross(Message& m) {
    m(name, held_out, half_width, residual_quantiles);
  }
};

// One timed kernel, in seconds: what a fit that had not seen its shape says of it.
struct RowReport {
  Regime regime = Regime::small;
  double measured = 0, held_out = 0;

  template <class Message>
  void cross(Message& m) {
    m(regime, measured, held_out);
  }
};

// How well one operator family was calibrated: what the accuracy page shows.
struct FamilyReport {
  std::string engine;                   // whose kernels were timed; empty: of none in particular
  std::string family;                   // as in the device file: "gemm", "decode_attention", ...
  std::string form;                     // "physical", or "physical + residual table"
  std::string data;                     // "bf16, 1,500 rows of 412 shapes"
  std::vector<FittedParameter> fitted;  // those that were free
  ErrorSummary in_sample, held_out;     // held out: folds that share no shape
  std::optional<double> half_width;
  std::vector<RegimeReport> regimes;
  std::vector<RowReport> rows;        // in the order of the records
  std::vector<std::string> warnings;  // parameters that the rows do not identify, and the like

  template <class Message>
  void cross(Message& m) {
    m(engine, family, form, data, fitted, in_sample, held_out, half_width, regimes, rows, warnings);
  }
};

}  // namespace llmscape::hardware
