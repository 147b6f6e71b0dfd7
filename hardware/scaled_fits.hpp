// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

namespace llmscape::hardware {

// A device's fitted parameters were fitted at the figures of its own data sheet. Where `device` states another figure
// than `reference`, the description that it was made from, each parameter that still is the reference's is scaled with
// it, in place:
//   hbm_bandwidth    what one thread block draws from memory, in proportion
//   multiprocessors  the peaks and the bandwidth of L2, in proportion: more of the same units
//   links.bandwidth  the bandwidths of measured collectives in proportion, their root terms as 1 / its root
//   links.latency    the latencies of measured collectives in proportion, their root terms as its root
//   links.domain     collectives over more ranks than a smaller domain holds are no longer there: they were measured
//                    inside one, and lie in several now
// Shares of a figure (efficiencies) need no scaling: they are multiplied by the new figure. A parameter that `device`
// states itself is left alone, and so is everything where a figure cannot be read (readers report it). What was scaled
// is tagged `assumed`, and its source and origin say so. Where a peak, the memory, the multiprocessors or the L2
// changed, this holds of all fits of products and attention: they are carried to a chip that nobody has timed, and how
// measurements lay about them there is not known (carried_spread.hpp).
// Of a device of measured steps the device under them is scaled, and that of the reference becomes `measured_on`.
void scale_fits(YamlNode& device, const YamlNode& reference);

}  // namespace llmscape::hardware
