// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>
#include <vector>

namespace llmscape::hardware {

// What a reading of power says of the energy form: the work and traffic of its kernel in the time that it took.
struct PowerLoad {
  enum class Kind { dense, experts, attention };
  Kind kind = Kind::dense;
  std::string format;       // of the weights that are multiplied; attention: empty
  Flops flops, bf16_flops;  // the latter: in units of bf16 work at equal unit time
  Bytes bytes;
  Seconds time;
};
// As the simulator prices the kernel, so that figures fitted here are joules of what it counts. Throws
// std::invalid_argument for a format that is not known.
PowerLoad power_load(const Gpu& gpu, const traces::PowerReading& reading);

// Mean watts of the board, idle power included, as its steps are priced (hardware/part_cost.hpp).
Watts predicted_power(const Gpu& gpu, const EnergyParameters& energy, const PowerLoad& load);

// The readings that tell what a kernel draws. Left out are kernels below 200 us (a sensor averages over gaps between
// launches), products of a format whose fastest takes longer than 20 us below three times that floor (timed outside
// graphs), layers of experts that are not dealt out evenly or lie on several ranks, prompts of one token, and formats
// without a name.
std::vector<traces::PowerReading> telling(std::span<const traces::PowerReading> readings);

struct PowerCalibration {
  EnergyParameters parameters;  // tagged as fitted; `link` is the GPU's
  FamilyReport report;          // held out: folds that share no shape; `measured` is watts
};

// Fits watts at work, joules of work by kind of kernel and by format, and joules of traffic to readings of power. Idle
// power is the GPU's. Nothing where fewer than kFewestFittedRows readings tell anything.
std::optional<PowerCalibration> fit_power(const Gpu& gpu, std::span<const traces::PowerReading> readings,
                                          std::size_t most_rows);

}  // namespace llmscape::hardware
