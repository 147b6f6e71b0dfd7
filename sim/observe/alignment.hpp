// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/observe/observed.hpp"

namespace llmscape::observe {

// Sorts requests, and moves them so that the first arrives at 0.
void align_requests(Observed& observed);
// Moves courses so that the first request comes at 0: of engines by their log (log_start), of devices, whose samples
// another program took, by the rise of their power, not before a log of the same time of day has it. A note says how
// much is left out. Requests have the times of their files still.
void align_courses(Observed& observed);

}  // namespace llmscape::observe
