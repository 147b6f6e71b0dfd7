// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/offload_capacity.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::run {

// What a scenario of prefill and decode pools carries at most, by arithmetic instead of events: nobody waits.
struct Analysis {
  OffloadSystem system;
  // As the scenario has it: the threshold is `longer_than` of the pool elsewhere, or `up_to` of the one at home.
  OffloadPlan written;
  std::optional<OffloadPlan> best;    // over thresholds and splits of the instances at home, where some compute prompts
  bool offloads = false;              // there are instances elsewhere
  std::vector<std::string> warnings;  // what left its profile
};

// Needs prefill pools, at most one at the site of the one decode pool and one elsewhere, whose devices are profiles
// (hardware/profile). Prompt lengths are quantiles of 100,000 draws of the workload, whole: caches are taken as cold.
// Nothing after reporting what is in the way.
std::optional<Analysis> analyse(const scenario::Scenario& scenario, Diagnostics& diagnostics);

// The schema analytic/1: under `plan` what the scenario has, under `best` what would carry most.
std::string to_json(const Analysis& analysis);

}  // namespace llmscape::run
