// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/result/result.hpp"

namespace llmscape::report {

// The result in about twelve lines of at most 100 columns for a terminal: what ran, whether it means something,
// latencies, throughput, KV cache, energy, where the time went and what the figures are worth. Warnings follow.
std::string summary(const result::RunResult& result, bool colour);

}  // namespace llmscape::report
