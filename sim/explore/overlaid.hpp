// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/explore/axis.hpp"

namespace llmscape::explore {

// Reports what a plan or --set fixes, or an axis varies, and what an axis that is laid later replaces in every point,
// at the same path or at one above it: it would have no effect, and nobody would hear of it. `base` says which item a
// name in brackets means.
void check_overlaid(const PlanConfig& config, const std::vector<std::string>& set, const std::vector<Axis>& axes,
                    const YamlNode& base, Diagnostics& diagnostics);

}  // namespace llmscape::explore
