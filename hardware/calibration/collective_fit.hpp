// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/collectives.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

struct CollectiveCalibration {
  std::string implementation;  // "nccl", "vllm_graph", ...
  CollectiveFit parameters;    // tagged as fitted
  FamilyReport report;         // held out: folds that share no message size
};

// Fits latency + x / bandwidth + root_term sqrt(x) to each kind, implementation and number of ranks that has at least
// ten messages. Passed over are messages that cross nodes (the links of a replica lie inside one) and those that
// an engine's own all-reduce leaves to NCCL or that were launched outside a graph.
std::vector<CollectiveCalibration> fit_collectives(std::span<const traces::TimedCollective> records);

}  // namespace llmscape::hardware
