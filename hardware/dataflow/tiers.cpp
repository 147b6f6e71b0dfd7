// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/tiers.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {

bool sram_resident(const MemoryTiers& tiers, Bytes bytes, int sockets) { return bytes <= sockets * *tiers.sram; }

std::int64_t sockets_to_hold(const MemoryTiers& tiers, Bytes bytes) {
  return static_cast<std::int64_t>(std::ceil(bytes / *tiers.sram));
}

Seconds streaming_time(const MemoryTiers& tiers, Bytes weights, Bytes kv, int sockets) {
  if (tiers.hbm.value.si() == 0) return Seconds();
  const Bytes bytes = tiers.shared_channel ? weights + kv : std::max(weights, kv);
  return bytes / (sockets * *tiers.hbm_bandwidth * *tiers.hbm_efficiency);
}

Seconds resident_time(const MemoryTiers& tiers, Bytes weights, Bytes kv, int sockets) {
  if (tiers.sram_bandwidth.value.si() == 0) return Seconds();
  return (weights + kv) / (sockets * *tiers.sram_bandwidth);
}

Seconds switch_time(const MemoryTiers& tiers, Bytes weights, int sockets) {
  return weights / (sockets * *tiers.ddr_bandwidth);
}

const Fields<MemoryTiers>& memory_tiers_fields() {
  static const Fields<MemoryTiers> fields = [] {
    using M = MemoryTiers;
    Fields<M> f("memory_tiers", "the memories of one socket, nearest first");
    f.add("sram", &M::sram, "memory among the compute units").required().above(0);
    f.add("sram_bandwidth", &M::sram_bandwidth,
          "bandwidth of the SRAM, which a model that stays there is read at; 0: never what a section waits for")
        .at_least(0);
    f.add("hbm", &M::hbm, "memory beside the chip; 0: none, everything stays in SRAM").at_least(0);
    f.add("hbm_bandwidth", &M::hbm_bandwidth, "bandwidth of the HBM").at_least(0);
    f.add("hbm_efficiency", &M::hbm_efficiency, "share of the HBM bandwidth that streaming reaches")
        .above(0)
        .at_most(1);
    f.add("shared_channel", &M::shared_channel, "weights and KV share the channels: their times add up");
    f.add("ddr", &M::ddr, "memory behind the HBM, for the weights of other models; 0: none").at_least(0);
    f.add("ddr_bandwidth", &M::ddr_bandwidth, "bandwidth from DDR into HBM").at_least(0);
    f.check([](const M& tiers, const YamlNode& node, Diagnostics& diagnostics) {
      if (tiers.hbm.value.si() > 0 && tiers.hbm_bandwidth.value.si() == 0)
        diagnostics.error(node.where, "'hbm' needs 'hbm_bandwidth'");
      if (tiers.ddr.value.si() > 0 && tiers.ddr_bandwidth.value.si() == 0)
        diagnostics.error(node.where, "'ddr' needs 'ddr_bandwidth'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
