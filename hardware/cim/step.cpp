// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/step.hpp"

#include <algorithm>

namespace llmscape::hardware {

CimLoad& CimLoad::operator+=(const CimLoad& o) {
  weights += o.weights;
  kv += o.kv;
  spilled += o.spilled;
  written += o.written;
  vector_passes += o.vector_passes;
  write_rounds += o.write_rounds;
  vector += o.vector;
  multiply_adds += o.multiply_adds;
  weight_bits += o.weight_bits;
  conversions += o.conversions;
  additions += o.additions;
  activations += o.activations;
  return *this;
}

void CimLoad::multiply(double times, const models::Format& by, const Macro& macro) {
  multiply_adds += times;
  weight_bits += times * 8 * by.bytes;
  conversions += times * hardware::conversions(macro, by);
}

CimTimes step_times(const CimDevice& chip, const CimLoad& load) {
  CimTimes t;
  t.memory = load.traffic() / chip.dram.bandwidth();
  t.compute = load.vector_passes * static_cast<double>(vector_cycles(chip.macro)) / *chip.clock;
  t.write = load.write_rounds * static_cast<double>(write_cycles(chip.macro)) / *chip.clock;
  // Rounds are counted on the active macros; those that are written meanwhile are the others.
  if (chip.rotates()) t.write *= *chip.active_share / (1 - *chip.active_share);
  t.vector = load.vector / *chip.vector_throughput;
  t.macros = chip.rotates() ? std::max(t.compute, t.write) : t.compute + t.write;
  t.step = *chip.fill + (chip.overlaps() ? std::max({t.memory, t.macros, t.vector}) : t.memory + t.macros + t.vector);
  return t;
}

std::array<Joules, kEnergyComponents> step_energy(const CimDevice& chip, const CimLoad& load) {
  const CimEnergy& e = chip.energy;
  std::array<Joules, kEnergyComponents> sum{};
  const auto component = [&sum](EnergyComponent which) -> Joules& { return sum[static_cast<std::size_t>(which)]; };
  component(EnergyComponent::compute) =
      load.weight_bits / 4 * *e.multiply_add + (load.vector + Flops(load.additions)) * *e.vector;
  component(EnergyComponent::conversion) = load.conversions * conversion_energy(*e.conversion, *chip.macro.adc_bits);
  component(EnergyComponent::memory) = load.traffic() * *chip.dram.energy;
  component(EnergyComponent::on_chip) = load.activations * *e.activation;
  component(EnergyComponent::write) = load.written * *e.write;
  return sum;
}

}  // namespace llmscape::hardware
