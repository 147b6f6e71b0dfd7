// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "sim/explore/plan_config.hpp"

// What is said of a plan before anything runs, beside what its axes are.
namespace llmscape::explore {

// The SLO and the objectives of the plan: what results are judged by later. `columns`: those of its axes.
void check_judgement(const YamlNode& plan, const std::vector<std::string>& columns, Diagnostics& diagnostics);

// A limit of memory below the address space that this process has already is none: it bounds what a child takes more.
void check_limits(const PlanConfig& config, const YamlNode& plan, Diagnostics& diagnostics);

// The seed of the first run of each point, from which `repeat` of them count up; 1 after reporting.
std::int64_t first_seed(const YamlNode& base, std::int64_t repeat, Diagnostics& diagnostics);

}  // namespace llmscape::explore
