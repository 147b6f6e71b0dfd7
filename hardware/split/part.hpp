// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "hardware/device.hpp"

namespace llmscape::hardware {

// A part of a split device: some devices alike (their `count`), which share what they have of the model by tensor
// parallelism.
using PartDevice = std::shared_ptr<const Device>;

// The kinds that can be a part: those that are one device.
const Family<Device>& single_devices();

models::ParallelPlan plan_of(const Device& part);
Watts idle_power_of(const Device& part);
// Of parts that work in turn, what the largest may draw above idle; 0: nothing limits one of them.
Watts headroom_of(std::span<const PartDevice> parts);
Bytes memory_of(const Device& part);

// What `stated` leaves to the parts, where all of them state the same.
EnergyBoundary boundary_of(EnergyBoundary stated, std::span<const PartDevice> parts);
// The weaker of each tag.
EnergyTags weaker(const EnergyTags& a, const EnergyTags& b);
// GEMMs that both compute; nothing where one takes every format as it is asked for.
std::optional<Arithmetic> common(const std::optional<Arithmetic>& a, const std::optional<Arithmetic>& b);

// Why it cannot run its part of the model, in sentences that begin with `role`.
std::vector<std::string> problems_of(const std::string& role, const Device& part, const models::ModelSpec&);

// Adds what `part`, `device.count` of them, does beside its time: joules, busy parts, the work of all its devices.
void add_work(StepPhases& sum, const StepPhases& part, const Device& device);
// Adds one family's time, which waits for what most of the sum waits for.
void add_time(StepPhases& sum, const StepPhases& part, std::size_t family);

}  // namespace llmscape::hardware
