// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"

namespace llmscape::hardware {

// The memories of one socket, nearest first. A size of 0: there is none. The functions below spread what they are given
// evenly over `sockets`.
struct MemoryTiers {
  Sourced<Bytes> sram;
  Sourced<BytesPerSecond> sram_bandwidth;  // 0: never what a section waits for
  Sourced<Bytes> hbm;
  Sourced<BytesPerSecond> hbm_bandwidth;
  Sourced<double> hbm_efficiency{1};  // share of the bandwidth that streaming reaches
  bool shared_channel = true;         // weights and KV come through the same channels, so that their times add up
  Sourced<Bytes> ddr;
  Sourced<BytesPerSecond> ddr_bandwidth;  // from DDR into HBM
};
const Fields<MemoryTiers>& memory_tiers_fields();

// Whether this much, weights and KV together, stays in SRAM, so that a step reads no HBM: W_s + KV <= n SRAM
// (cost-model 6).
bool sram_resident(const MemoryTiers&, Bytes, int sockets);
// Sockets whose SRAM together holds this much.
std::int64_t sockets_to_hold(const MemoryTiers&, Bytes);
// Reading weights and KV from HBM: W / (n eta_m BW) and KV / (n eta_m BW), summed on a shared channel, else the longer
// of the two (cost-model 6). 0 if there is no HBM.
Seconds streaming_time(const MemoryTiers&, Bytes weights, Bytes kv, int sockets);
// Reading both from SRAM, where they are resident: (W + KV) / (n BW_sram), or nothing where SRAM is never waited for.
Seconds resident_time(const MemoryTiers&, Bytes weights, Bytes kv, int sockets);
// Bringing the weights of another model from DDR into HBM: W / (n BW_ddr) (cost-model 6).
Seconds switch_time(const MemoryTiers&, Bytes weights, int sockets);

}  // namespace llmscape::hardware
