// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"

#include <optional>

namespace llmscape::hardware {

// The 90th percentile of |log(measured / predicted)| over a B200's kernels of a family, predicted by the fits of an
// H200 at the figures of the B200's data sheet (`llmscape accuracy --section carried`, which checks it on an H100 by an
// A100's fits and on an H200 by an H100's). Nothing for families that were not tested.
std::optional<double> carried_half_width(OperatorFamily family);

// How far true times may lie from what fits that were carried over from another chip say: even over a range whose
// middle nine tenths is that half-width; else as spread_of(assumed).
Spread carried_spread(OperatorFamily family);

}  // namespace llmscape::hardware
