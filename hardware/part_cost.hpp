// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace llmscape::hardware {

// The longest that an H100 rests at a kernel's launch: fixed times of the harness's kernels in graphs are 1.3 to 3.9 us
// (traces/measured/h100-sxm-2026-11-26.json.gz). What tables of engines' layers show beyond (8 to 50 us) is work of
// small kernels.
inline constexpr Seconds kLongestLaunch(4e-6);

// What one kernel costs one device.
struct KernelCost {
  Seconds time;
  Flops flops;
  Flops bf16_flops;      // the same work in units of bf16 work at equal unit time
  Bytes bytes;           // device memory traffic
  Bytes expert_bytes{};  // of it, weights of routed experts
  Flops padding{};       // besides `flops`: of rows that fill up the tiles of a GEMM, whose results nobody reads
  Seconds launch{};      // of the time: until the kernel's blocks run, and after them

  friend KernelCost operator-(const KernelCost& a, const KernelCost& b) {
    return {a.time - b.time,
            a.flops - b.flops,
            a.bf16_flops - b.bf16_flops,
            a.bytes - b.bytes,
            a.expert_bytes - b.expert_bytes,
            a.padding - b.padding,
            a.launch - b.launch};
  }
  KernelCost& operator+=(const KernelCost& other) {
    time += other.time;
    flops += other.flops;
    bf16_flops += other.bf16_flops;
    bytes += other.bytes;
    expert_bytes += other.expert_bytes;
    padding += other.padding;
    launch += other.launch;
    return *this;
  }
};

// What kernels that send nothing cost one device.
struct KernelSum {
  Seconds time;
  Flops bf16_flops;
  Bytes bytes;
  Joules work;       // of arithmetic, whatever power limit it runs under
  Seconds launch{};  // KernelCost::launch

  // A kernel `count` times, with the joules of its arithmetic.
  void add(const KernelCost& cost, Joules arithmetic, double count) {
    time += count * cost.time;
    bf16_flops += count * cost.bf16_flops;
    bytes += count * cost.bytes;
    work += count * arithmetic;
    launch += count * cost.launch;
  }
};

// What the kernels of one family cost one device.
struct FamilyCost : KernelSum {
  Bytes link_bytes{};   // of collectives
  Seconds link_wait{};  // PartCost::link_wait
};

// What a part of a step costs one device, its kernels one after another.
struct PartCost {
  std::array<Seconds, kOperatorFamilies> by_family{};
  std::array<Flops, kOperatorFamilies> bf16_flops{};
  std::array<Bytes, kOperatorFamilies> bytes{};
  std::array<Joules, kOperatorFamilies> work{};     // of arithmetic, whatever power limit it runs under
  std::array<Seconds, kOperatorFamilies> launch{};  // KernelCost::launch
  Flops flops;
  Flops padding;  // KernelCost::padding
  Bytes link_bytes;
  Seconds link_wait;     // of collectives: links of a rank on average have sent, those of the fullest have not
  Bytes expert_bytes;    // of `bytes`, weights of routed experts
  Seconds extrapolated;  // of the time, outside the range of the device's parameters
  unsigned outside = 0;  // which of its kernels were, in bits of the kind's own
  unsigned present = 0;  // a bit for each family that has kernels

  // A kernel `count` times, with the joules of its arithmetic.
  void add(OperatorFamily family, const KernelCost& cost, Joules arithmetic, double count);
  PartCost& operator+=(const PartCost& other);
  [[nodiscard]] Seconds of(OperatorFamily family) const { return by_family[static_cast<std::size_t>(family)]; }
  [[nodiscard]] KernelSum kernels(std::size_t f) const {
    return {by_family[f], bf16_flops[f], bytes[f], work[f], launch[f]};
  }
  [[nodiscard]] FamilyCost family(std::size_t f) const {
    const bool links = f == static_cast<std::size_t>(OperatorFamily::collective);
    return {kernels(f), links ? link_bytes : Bytes(), links ? link_wait : Seconds()};
  }
  [[nodiscard]] Seconds time() const { return std::accumulate(by_family.begin(), by_family.end(), Seconds()); }
};

// Energy of time and traffic; that of arithmetic is known kernel by kernel.
struct PowerModel {
  Watts active;  // above idle, while a kernel's blocks run
  JoulesPerByte memory, link;
  // Above idle, the most that the kernels of a family drew when they were timed; what a lower clock makes of them is
  // hardware/gpu/timed_clocks.hpp's.
  std::optional<Watts> most{};
};

// What the parts of a device do at best: what `busy` is measured against.
struct Rates {
  FlopsPerSecond bf16;
  BytesPerSecond memory;
};

// bound_of() where only arithmetic and memory can be waited for, without a division.
inline Bound bound_of(Seconds time, Flops flops, Bytes bytes, const Rates& rates) {
  const double arithmetic = flops.si() * rates.memory.si(), memory = bytes.si() * rates.bf16.si();
  const double filled = kFilled * time.si() * rates.bf16.si() * rates.memory.si();
  if (std::max(arithmetic, memory) < filled) return Bound::overhead;
  return arithmetic > memory ? Bound::arithmetic : Bound::memory;
}

// What becomes of the joules of a family that would take more than `most` at the boost clock: they are those at the
// clock at which it takes just that (clock_that_takes). Where none is low enough, as traffic does not fall with it, all
// are cut alike.
struct Held {
  double clock, active, work, traffic;  // the latter as shares of the joules at the boost clock
};
Held held_to(Joules most, Joules active, Joules work, Joules traffic);

// One by one, so that they stay in registers: whether they are above is asked in every step.
inline double hold_to(Phase& phase, Joules most) {
  const Joules traffic = phase.energy_of(EnergyComponent::memory) + phase.energy_of(EnergyComponent::interconnect);
  const Held held =
      held_to(most, phase.energy_of(EnergyComponent::active), phase.energy_of(EnergyComponent::compute), traffic);
  phase.energy_of(EnergyComponent::active) *= held.active;
  phase.energy_of(EnergyComponent::compute) *= held.work;
  phase.energy_of(EnergyComponent::memory) *= held.traffic;
  phase.energy_of(EnergyComponent::interconnect) *= held.traffic;
  return held.clock;
}

// The joules of all devices' kernels, none above what they drew when they were timed: at a limit their clocks fell.
inline void keep_below(Phase& phase, const PowerModel& power, int devices) {
  const Joules traffic = phase.energy_of(EnergyComponent::memory) + phase.energy_of(EnergyComponent::interconnect);
  const Joules all = phase.energy_of(EnergyComponent::active) + phase.energy_of(EnergyComponent::compute) + traffic;
  const Joules most = devices * (*power.most * phase.time);
  if (all > most) hold_to(phase, most);
}

// What one family does in the step of a replica of `devices` alike.
inline Phase phase_of(OperatorFamily family, const FamilyCost& cost, const Rates& rates, const PowerModel& power,
                      int devices) {
  Phase phase;
  phase.time = cost.time;
  phase.bytes = cost.bytes;
  phase.busy_of(Resource::arithmetic) = cost.bf16_flops / rates.bf16;
  phase.busy_of(Resource::memory) = cost.bytes / rates.memory;
  phase.energy_of(EnergyComponent::active) = devices * (power.active * (cost.time - cost.launch));
  phase.energy_of(EnergyComponent::compute) = devices * cost.work;
  phase.energy_of(EnergyComponent::memory) = devices * (cost.bytes * power.memory);
  if (family == OperatorFamily::collective) {
    phase.busy_of(Resource::links) = cost.time - cost.link_wait;
    phase.energy_of(EnergyComponent::interconnect) = devices * (cost.link_bytes * power.link);
    phase.bound = Bound::links;
  } else {
    phase.bound = bound_of(cost.time, cost.bf16_flops, cost.bytes, rates);
  }
  if (power.most) keep_below(phase, power, devices);
  return phase;
}

// The step of a replica of `devices` alike, whatever power it draws (hardware/power_cap.hpp keeps it below a limit).
// Collectives hold the links as long as they last for a rank on average.
StepPhases phases_of(const PartCost& part, const Rates& rates, const PowerModel& power, int devices);
// cost_of() these, to the last bit, without laying out the families.
StepCost cost_of(const PartCost& part, const Rates& rates, const PowerModel& power, int devices);

}  // namespace llmscape::hardware
