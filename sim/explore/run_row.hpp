// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/explore/results.hpp"

namespace llmscape::explore {

// What a row of results.csv says of a run (schema run/1, as run.json and points/<id>.json have it): seed, verdict and
// metrics, with their intervals where the run has them. Its place in a plan is left empty.
ResultRow row_of(const nlohmann::json& run);

}  // namespace llmscape::explore
