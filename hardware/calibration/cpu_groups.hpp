// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "hardware/calibration/cpu_fit.hpp"

#include <string>
#include <vector>

namespace llmscape::hardware {

// The fitted families as groups of a CPU's device file, numbers with four digits. `source` names the record; the errors
// on unseen shapes are added to it.
std::vector<YamlNode::Entry> groups_of(const CpuCalibration& calibration, const std::string& source);

}  // namespace llmscape::hardware
