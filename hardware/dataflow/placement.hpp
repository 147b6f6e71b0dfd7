// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/dataflow/sections.hpp"

namespace llmscape::hardware {

// The stages of a layer are its GEMMs and its attention. All sockets share each stage evenly, so that the
// budget of one socket decides.

// Sections that a layer is cut into so that each fits the memory units, of which every stage takes whole ones for its
// weights, and the compute units, of which every stage takes at least `least_units`. A stage without weights counts
// with 0 bytes.
std::int64_t sections_of(const std::vector<Bytes>& stage_weights, const Fabric&, const MemoryTiers&, int sockets);

// u_s of cost-model 6 for a layer that is cut into `sections`, mean over longest time of stages with this much work:
// the compute units are dealt out in proportion to work, and what stages below the least take on top is missing
// elsewhere.
double stage_balance(std::vector<double> work, const Fabric&, std::int64_t sections);

}  // namespace llmscape::hardware
