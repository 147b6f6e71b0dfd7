// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "traces/kernel_record.hpp"

#include <string>
#include <vector>

namespace llmscape::traces {

// Kernel tables of AIConfigurator (github.com ai-dynamo/aiconfigurator; Apache-2.0) as CSV, plain or compressed. Times
// in the files are milliseconds. Broken rows are reported with file:line:col and left out. The records are sorted by
// their case; where a case stands several times, its time is the mean.
std::vector<TimedGemm> read_aiconfigurator_gemm(const std::string& path, Diagnostics& diagnostics);

// Full attention only: rows with a sliding window are passed over. These kernels were timed with their keys and values
// in L2 from the launch before, so caches below the size of L2 read up to 1.35 times faster than in serving.
std::vector<TimedDecodeAttention> read_aiconfigurator_generation_attention(const std::string& path,
                                                                           Diagnostics& diagnostics);
std::vector<TimedPrefillAttention> read_aiconfigurator_context_attention(const std::string& path,
                                                                         Diagnostics& diagnostics);

}  // namespace llmscape::traces
