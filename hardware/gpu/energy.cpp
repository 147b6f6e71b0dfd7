// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/energy.hpp"

#include "hardware/power.hpp"

namespace llmscape::hardware {

EnergyParameters EnergyParameters::at_clock(double share) const {
  const double operation = energy_of_operation(share);
  EnergyParameters scaled = *this;
  scaled.active *= share * operation;
  scaled.compute *= operation;
  for (auto* own : {&scaled.experts, &scaled.attention})
    if (*own) **own *= operation;
  for (auto& [format, energy] : scaled.by_format)
    for (auto* own : {&energy.compute, &energy.experts, &energy.attention})
      if (*own) **own *= operation;
  return scaled;
}

std::optional<JoulesPerFlop> EnergyParameters::own_compute(const std::string& format) const {
  const auto own = by_format.find(format);
  return own != by_format.end() ? own->second.compute : std::nullopt;
}

std::optional<JoulesPerFlop> EnergyParameters::own_experts(const std::string& format) const {
  const auto own = by_format.find(format);
  return own != by_format.end() ? own->second.experts : std::nullopt;
}

std::optional<JoulesPerFlop> EnergyParameters::own_attention(const std::string& kv_format) const {
  const auto own = by_format.find(kv_format);
  return own != by_format.end() ? own->second.attention : std::nullopt;
}

const Fields<EnergyParameters>& gpu_energy_fields() {
  static const Fields<FormatEnergy> format_fields = [] {
    using P = FormatEnergy;
    Fields<P> f("format_energy", "energy of GEMMs whose weights have one format, and of attention over such KV");
    f.add("compute", &P::compute, "of dense work in this format; absent: the bf16 figure, less as the peak is higher")
        .at_least(0);
    f.add("experts", &P::experts,
          "of routed experts in this format; absent: the bf16 figure, less as the peak is "
          "higher")
        .at_least(0);
    f.add("attention", &P::attention, "of attention over KV entries of this format; absent: as over others")
        .at_least(0);
    return f;
  }();
  static const Fields<EnergyParameters> fields = [] {
    using P = EnergyParameters;
    Fields<P> f("energy", "energy above idle: of running at all, of work and of traffic");
    f.add("active", &P::active, "drawn above idle_power while a kernel runs, whatever it does; absent: none")
        .at_least(0);
    f.add("compute", &P::compute, "of bf16 work; narrower formats take less as their peak is higher")
        .required()
        .at_least(0);
    f.add("experts", &P::experts, "of bf16 work of routed experts; absent: as compute").at_least(0);
    f.add("attention", &P::attention, "of attention's work, exponentials included; absent: as compute").at_least(0);
    f.add("padding", &P::padding,
          "of a row that fills up a tile of a GEMM, as a share of one that was asked for; absent: none")
        .between(0, 1);
    f.add_group("by_format", &P::by_format, format_fields, "of GEMMs and attention in this format");
    f.add("memory", &P::memory, "of device memory traffic").required().at_least(0);
    f.add("link", &P::link, "of bytes moved between devices").required().at_least(0);
    f.add("link_assumed", &P::link_assumed, "'link' is assumed, whatever 'tag' says of the others");
    f.add("measured_limit", &P::measured_limit,
          "what its power limit held the board to while kernels were timed, idle power included: none draws more; "
          "absent: none reached it")
        .above(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
