// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {

// A figure of the hardware that a scenario states, itself or by a preset.
struct Parameter {
  std::string path;      // for people and --set: "hardware.devices[edge].memory_bandwidth"
  std::string override;  // the same by numbers, of the place that holds the text: "hardware.devices[0].tdp.value"
  std::string text;      // "3.35 TB/s"
  double value = 0;      // in SI units, not 0
  Dimension dimension = Dimension::number;
};

// Those of a resolved scenario in its order: every number of `hardware` that its field table declares, but whole
// numbers (how many devices, banks or rows), numbers that are 0, and those that describe a fit's errors and not the
// device.
std::vector<Parameter> hardware_parameters(const scenario::Scenario& scenario);

// "path=value" for --set, with the figure times `factor`.
std::string scaled(const Parameter& parameter, double factor);

}  // namespace llmscape::explore
