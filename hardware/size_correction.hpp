// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"

#include <optional>
#include <vector>

namespace llmscape::hardware {

// What timed collectives say about the times of their form: a factor by the size of the tensor, even in its logarithm
// between points of which each is of twice the size of the one before. Off the points the last one's counts.
struct SizeCorrection {
  Bytes first;                       // of the first point
  std::vector<double> percent;       // 100 x the logarithm of the factor at each point
  std::optional<Bytes> switches_at;  // from this size on the software works in another way: nothing is even across it

  [[nodiscard]] double factor(double bytes) const;
};
const Fields<SizeCorrection>& size_correction_fields();

}  // namespace llmscape::hardware
