// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "sim/metrics/window.hpp"

namespace llmscape::scenario {

struct ScenarioConfig;

const Fields<metrics::WindowConfig>& window_fields();
// Reports a window that the workload cannot have.
void check_window(const ScenarioConfig& config, const YamlNode& node, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
