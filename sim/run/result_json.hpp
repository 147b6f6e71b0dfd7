// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/run/result.hpp"

namespace llmscape::run {

// The result as JSON (schema run/1), two-space indented, with a final newline. A part that was not computed is absent.
// No wall time, no host: the same run gives the same bytes. Throws std::logic_error naming a value that is NaN or
// infinite.
std::string to_json(const RunResult& result);

}  // namespace llmscape::run
