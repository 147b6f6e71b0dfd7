// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sim/engine/engine_model.hpp"
#include "sim/validation/comparison.hpp"
#include "traces/engine_record.hpp"

namespace llmscape::validation {

// Each step of the record priced from what it computed, its device time beside the one measured: all steps, then by
// kind "decode step", "prefill step" and "mixed step", those that occurred. `windows` are the model's KV laws.
std::vector<Comparison> compare_steps(const traces::EngineRecord& record, engine::EngineModel& model,
                                      const std::vector<std::int64_t>& windows);

}  // namespace llmscape::validation
