// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/step.hpp"

#include <algorithm>

namespace llmscape::hardware {

CimLoad& CimLoad::operator+=(const CimLoad& o) {
  weights += o.weights;
  kv += o.kv;
  written += o.written;
  vector_passes += o.vector_passes;
  write_rounds += o.write_rounds;
  vector += o.vector;
  multiply_adds += o.multiply_adds;
  additions += o.additions;
  activations += o.activations;
  return *this;
}

CimTimes step_times(const CimDevice& chip, const CimLoad& load) {
  const Seconds compute = load.vector_passes * static_cast<double>(vector_cycles(chip.macro)) / *chip.clock;
  Seconds write = load.write_rounds * static_cast<double>(write_cycles(chip.macro)) / *chip.clock;
  // Rounds are counted on the active macros; those that are written meanwhile are the others.
  if (chip.rotates()) write *= *chip.active_share / (1 - *chip.active_share);
  CimTimes t;
  t.memory = (load.weights + load.kv) / (*chip.memory_bandwidth * *chip.memory_efficiency);
  t.macros = chip.rotates() ? std::max(compute, write) : compute + write;
  t.vector = load.vector / *chip.vector_throughput;
  t.step = *chip.fill + (chip.overlaps() ? std::max({t.memory, t.macros, t.vector}) : t.memory + t.macros + t.vector);
  return t;
}

std::array<Joules, kEnergyComponents> step_energy(const CimDevice& chip, const CimLoad& load,
                                                  const models::Format& weights) {
  const CimEnergy& e = chip.energy;
  const Joules multiply_add = multiply_add_energy(chip.macro, weights, *e.multiply_add, *e.conversion);
  std::array<Joules, kEnergyComponents> sum{};
  sum[static_cast<std::size_t>(EnergyComponent::compute)] =
      load.multiply_adds * multiply_add + (load.vector + Flops(load.additions)) * *e.vector;
  sum[static_cast<std::size_t>(EnergyComponent::memory)] = (load.weights + load.kv) * *e.memory;
  sum[static_cast<std::size_t>(EnergyComponent::on_chip)] = load.written * *e.write + load.activations * *e.activation;
  return sum;
}

}  // namespace llmscape::hardware
