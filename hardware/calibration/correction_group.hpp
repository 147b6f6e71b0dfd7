// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "hardware/gpu/correction.hpp"

namespace llmscape::hardware {

// A correction as the group `correction` of a device file.
YamlNode correction_group(const Correction& correction);

}  // namespace llmscape::hardware
