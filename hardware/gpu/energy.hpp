// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"

#include <map>
#include <optional>
#include <string>

namespace llmscape::hardware {

// Joules of the work of GEMMs whose weights have one format (absent: those of bf16 work, less as the peak is higher),
// and of attention over KV entries that have it (absent: as over others).
struct FormatEnergy {
  std::optional<JoulesPerFlop> compute, experts, attention;
};

// What a GPU draws above its idle power. A kernel takes `active` for as long as its blocks run (not while it is
// launched: runs of the mini engine on an H100, whose decode steps are a quarter of launches, drew 418 W where 512
// would follow otherwise and 440 do), joules of its work and joules of its traffic, together no more than
// `measured_limit` leaves: tables that were timed at a power limit hold the clock that it left, in their times and in
// their watts.
struct EnergyParameters : Fit {
  Watts active;                            // schedulers, caches, clock trees, leakage of a die at work
  JoulesPerFlop compute;                   // of bf16 work
  std::optional<JoulesPerFlop> experts;    // the same in GEMMs of routed experts; absent: as `compute`
  std::optional<JoulesPerFlop> attention;  // in attention, with its exponentials; absent: as `compute`
  // Of a row that fills up a tile of a GEMM, as a share of one that was asked for: its zeros are multiplied as well.
  double padding = 0;
  std::map<std::string, FormatEnergy> by_format;  // by the format's name
  JoulesPerByte memory;                           // of device memory traffic
  JoulesPerByte link;                             // moved between devices
  bool link_assumed = false;                      // that figure is, whatever `tag` says of the others
  std::optional<Watts> measured_limit;            // what the board was held to when timed; absent: nothing reached it

  // As it is at that share of the boost clock: an operation takes energy_of_operation, of which there are as many in a
  // second as the clock has ticks.
  [[nodiscard]] EnergyParameters at_clock(double share) const;
  // Of GEMMs with weights of this format; nothing: bf16 work in units of equal time.
  [[nodiscard]] std::optional<JoulesPerFlop> own_compute(const std::string& format) const;
  [[nodiscard]] std::optional<JoulesPerFlop> own_experts(const std::string& format) const;
  [[nodiscard]] std::optional<JoulesPerFlop> own_attention(const std::string& kv_format) const;
};
const Fields<EnergyParameters>& gpu_energy_fields();

}  // namespace llmscape::hardware
