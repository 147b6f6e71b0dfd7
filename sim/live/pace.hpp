// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sim/live/executor.hpp"

namespace llmscape::live {

// Seconds that an engine with full batches spends on one request: its share of a step that computes limits.tokens of
// prompts, and of steps in which limits.sequences decode in the middle of their answers; each is timed once.
double busy_seconds(Executor& executor, const ExecutorLimits& limits, std::int64_t prompt_tokens,
                    std::int64_t output_tokens);

}  // namespace llmscape::live
