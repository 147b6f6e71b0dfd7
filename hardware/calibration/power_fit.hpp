// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/power_readings.hpp"
#include "hardware/calibration/report.hpp"

#include <optional>
#include <span>
#include <vector>

namespace llmscape::hardware {

// Mean watts of the board, idle power included, as its steps are priced (hardware/part_cost.hpp).
Watts predicted_power(const Gpu& gpu, const EnergyParameters& energy, const PowerLoad& load);

struct PowerCalibration {
  EnergyParameters parameters;      // tagged as fitted; `link` is the GPU's
  FamilyReport report;              // held out: folds that share no shape; `measured` is watts
  std::vector<FamilyReport> parts;  // of it, rows of one kind and format; diluted readings last, which are not of it
};

// Fits watts at work, joules of work by kind of kernel and by format, and joules of traffic to steady readings of
// power. Idle power is the GPU's; `measured_limit` is the median of the readings within a twentieth of the limit that
// was set. Figures named in `held` (of kHoldable, or a format that the GPU has dense work of) stay the GPU's. Nothing
// where fewer than kFewestFittedRows readings tell anything.
std::optional<PowerCalibration> fit_power(const Gpu& gpu, std::span<const traces::PowerReading> readings,
                                          std::size_t most_rows, std::span<const std::string> held = {});

}  // namespace llmscape::hardware
