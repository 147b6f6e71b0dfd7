// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/result/parts.hpp"
#include "sim/result/result.hpp"

namespace llmscape::result {

// Where the time of requests and tasks went, and the time and the joules of steps. Throws std::logic_error when the
// parts of a time do not sum to it (INV-17).
Breakdown breakdown_of(const Parts& parts, const Latencies& latency);

}  // namespace llmscape::result
