// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"

namespace llmscape::hardware {

// A part of a split device: some devices alike (their `count`), which share what they have of the model by tensor
// parallelism.
using PartDevice = std::shared_ptr<const Device>;

// The kinds that can be a part: those that are one device.
const Family<Device>& single_devices();

models::ParallelPlan plan_of(const Device& part);
Watts idle_power_of(const Device& part);
Bytes memory_of(const Device& part);

// Tokens of KV that fit where `utilisation` of the memory is for weights and KV, `besides` of it being taken already;
// 0: none.
std::int64_t kv_tokens_of(const Device& part, const models::ModelSpec&, double utilisation, Bytes besides = {});
// Why it cannot run its part of the model, in sentences that begin with `role`.
std::vector<std::string> problems_of(const std::string& role, const Device& part, const models::ModelSpec&);

// Adds one family's time of a part's step, which waits for what most of the sum waits for.
void add_time(StepCost& sum, const StepCost& part, std::size_t family);

// Adds what a part's step costs besides device time, which `share` of the part's is taken of: energy, busy parts, and
// the work of all its devices. Hosts of parts work at the same time, so that the slowest counts.
void add_work(StepCost& sum, const StepCost& part, const Device&, double share);

}  // namespace llmscape::hardware
