// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/result/measured.hpp"
#include "sim/world/assemble.hpp"

namespace llmscape::world {

// What was answered in a part of the run, over its length. `result` has the devices, the latencies and the end of it.
result::Throughput throughput(const Ended& parts, const serving::Gateway& gateway, const result::Measured& measured,
                              const result::RunResult& result);

// The same of each class of requests that occurred, with its latencies; nothing where all are of one.
std::vector<result::ClassResult> classes(const Ended& parts, const serving::Gateway& gateway,
                                         const result::Measured& measured, const result::RunResult& result);
// Limits of an SLO that judged no call, and calls that no limit judged, a sentence each; nothing where all calls are
// judged by the same limits.
std::vector<std::string> limits_and_calls(const Ended& parts);

}  // namespace llmscape::world
