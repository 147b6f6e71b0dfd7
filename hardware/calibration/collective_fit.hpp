// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/collectives.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

struct CollectiveCalibration {
  std::string implementation;  // "nccl", "vllm_graph", ...
  CollectiveFit parameters;    // tagged as fitted
  FamilyReport report;         // held out: folds that share no message size
};

// A kind over so many ranks needs so many messages.
inline constexpr std::size_t kFewestMessages = 10;

// Why a record counts for no fit: in words; empty, if it counts.
std::string why_no_collective(const traces::TimedCollective& record);

// Fits latency + x / bandwidth + root_term sqrt(x) to each kind, implementation and number of ranks that has at least
// ten messages, with a correction by size where unseen sizes gain by it. Passed over are messages that cross nodes (the
// links of a replica lie inside one), those that an engine's own all-reduce leaves to NCCL or that were launched
// outside a graph, and disturbed ones: twice as long as both the next smaller and the next larger message took.
std::vector<CollectiveCalibration> fit_collectives(std::span<const traces::TimedCollective> records);

// How unseen sizes lay about the fits of a kind, all together: a set of 15 messages is too few to tell by itself. A
// regime of fewer than 20 has the quantiles of all.
Residuals pooled_residuals(std::span<const CollectiveCalibration> fits, models::Collective::Kind kind);

}  // namespace llmscape::hardware
