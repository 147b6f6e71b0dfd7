// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/lengths.hpp"

namespace llmscape::workloads {

// A log-normal law without its tails, where `log_normal` with limits moves them to the ends.
FamilyMember<Lengths> truncated_log_normal_lengths();

}  // namespace llmscape::workloads
