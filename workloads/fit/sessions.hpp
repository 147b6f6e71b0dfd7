// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/fit/recording.hpp"

namespace llmscape::workloads {

using Session = std::vector<const RecordedCall*>;

// The calls of each session of a recording, sessions by their first calls.
std::vector<Session> sessions_of(const Recording& recording);

}  // namespace llmscape::workloads
