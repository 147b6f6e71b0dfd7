// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"

namespace llmscape::hardware {

// What joins the parts of a split device. Nothing else uses it, and what crosses it waits for nothing but the crossing.
struct SplitLink {
  Sourced<BytesPerSecond> bandwidth;  // one way
  Sourced<Seconds> latency;           // of one crossing
  Sourced<JoulesPerByte> energy;
  [[nodiscard]] Tag tag() const { return weaker(bandwidth.tag, latency.tag); }
};
const Fields<SplitLink>& split_link_fields();

// Adds `crossings` one after the other, with so many bytes in all: latency each, and bytes / bandwidth.
void add_crossings(StepPhases&, const SplitLink&, int crossings, Bytes);

}  // namespace llmscape::hardware
