// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/size_correction.hpp"

#include <optional>
#include <span>

namespace llmscape::hardware {

// The size of a tensor, and log(measured / predicted) of it.
struct SizeResidual {
  double bytes = 0, log = 0;
};

// The correction that meets the residuals: at each point the mean of those within half a doubling, and where there are
// none what lies between the next ones. `first`: of the points; `residuals` has one at least.
SizeCorrection size_correction(std::span<const SizeResidual> residuals, Bytes first, std::optional<Bytes> switches_at);

}  // namespace llmscape::hardware
