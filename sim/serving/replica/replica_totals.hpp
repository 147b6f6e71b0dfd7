// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "hardware/step_cost.hpp"
#include "sim/serving/replica/per_law.hpp"

namespace llmscape::serving {

// What a replica has done so far, summed in the order of its steps.
struct ReplicaTotals {
  // First what every step adds to: in a fleet little else of this is in the caches.
  std::int64_t steps = 0;
  std::int64_t sequence_steps = 0;  // decodes and chunks over all steps
  std::int64_t decode_tokens = 0;   // answered by decodes; accepted drafts count when their request ends
  std::int64_t passes = 0;          // of decoding sequences: each answers a token, and the drafts that it accepts
  std::int64_t peak_kv_blocks = 0;
  std::int64_t most_tokens = 0, most_sequences = 0;  // of a step
  Seconds busy;                                      // INV-8: at most the elapsed time
  std::int64_t attended_decodes = 0;                 // padding included, and
  PerLaw<double> attended;                           // entries that they attended to, by KV law
  std::int64_t prefill_tokens = 0;
  std::int64_t late_passes = 0;  // of the passes, those without drafts, which would have been late
  double tabled_steps = 0;       // of the steps, priced by measured ones; at the edge of their reach by a share
  std::int64_t dummy_steps = 0;  // of them, passes of a rank that had nothing to compute (RankGroup)
  Seconds adapter_loading;       // of `busy`, waiting for adapters
  // What a step that is priced whole adds to, in as few lines as hold it: time by what it waits for, as most families
  // of a step wait for the same. Sums to `busy`: by operator family; host: what the device does not hide.
  alignas(64) std::array<std::array<Seconds, hardware::kOperatorFamilies>, hardware::kBounds> time{};
  std::array<Joules, hardware::kOperatorFamilies> energy_by_family{};  // sums to `energy`
  std::array<Joules, hardware::kEnergyComponents> energy{};
  Bytes expert_bytes;                                            // of `bytes`, of one device: weights of routed experts
  std::array<Seconds, hardware::kResources> busy_by_resource{};  // of one device: each at most `busy`
  Seconds extrapolated;                                          // of it, outside the range of the device's parameters
  Flops flops;
  Bytes bytes;
  Joules drafting;  // of users' devices: not among `energy`
  [[nodiscard]] Seconds time_of(std::size_t family) const {
    Seconds sum;
    for (const auto& of_bound : time) sum += of_bound[family];
    return sum;
  }
  // INV-5: of steps that the end of the run cut short. Engines and requests count them, the run does not.
  std::int64_t cut_prefill_tokens = 0, cut_emitted_tokens = 0;
  std::int64_t cut_decode_steps = 0;  // of these steps, those that decode: the last ones
  // Of steps that a fault cut short: engines count them, requests only the first.
  std::int64_t lost_prefill_tokens = 0, lost_emitted_tokens = 0;
};

}  // namespace llmscape::serving
