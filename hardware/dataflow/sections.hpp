// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "hardware/dataflow/tiers.hpp"

namespace llmscape::hardware {

// The compute units of one socket and how sections of the network flow through them. A section is a part of the network
// that is laid out on them at once; its operators are the stages of a pipeline and run at the same time.
struct Fabric {
  Sourced<FlopsPerSecond> peak;  // of all compute units
  Sourced<std::int64_t> compute_units, memory_units;
  Sourced<std::int64_t> least_units{1};  // compute units that a stage takes, however little it has to do
  Sourced<double> compute_efficiency{1};
  Sourced<std::int64_t> pipeline_depth{1};  // stages of a section
  Sourced<std::int64_t> tile_tokens{1};     // tokens that move through the pipeline together
  Sourced<BytesPerSecond> link_bandwidth;   // between sockets, of one socket, one direction
  Sourced<Seconds> hop;                     // from a group of sockets to the one that holds the next layers
  Sourced<Seconds> fill;                    // of a section, before its first result
  Sourced<Seconds> routed_layer;            // fixed cost of choosing and gathering experts
};
const Fields<Fabric>& fabric_fields();

// What a section asks of all sockets together, which share it evenly.
struct SectionLoad {
  Bytes weights, kv;
  Flops flops;
  Bytes sent;  // by the collectives of each socket
  SectionLoad& operator+=(const SectionLoad&);
};

// How long each part of a socket is busy. Collectives are streamed while the operators run, so nothing adds up.
struct SectionTimes {
  Seconds memory, compute, links;
  [[nodiscard]] Seconds longest() const;
};

// Stage times that `tiles` tiles spend in a pipeline of this depth: m + D_p - 1 (cost-model 6).
double pipeline_stages(double tiles, std::int64_t depth);

// How a step runs on the machine.
struct SectionRun {
  int sockets = 1;
  double tiles = 1;       // of tokens
  bool resident = false;  // weights and KV are in SRAM
  double balance = 1;     // u_s: mean time of the section's stages over the longest
};
// cost-model 6: (W_s + KV_s) / (n eta_m BW), or at the bandwidth of the SRAM when resident there; F_s / (n eta_c P
// u_s), stretched by filling and draining the pipeline: (m + D_p - 1) / m; V_coll / BW_p2p.
SectionTimes section_times(const Fabric&, const MemoryTiers&, const SectionLoad&, const SectionRun&);

}  // namespace llmscape::hardware
