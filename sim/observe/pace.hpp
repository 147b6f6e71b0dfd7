// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/comparison.hpp"

namespace llmscape::observe {

// A run whose devices waited for their host: tokens took longer than the devices' work does, beyond what predictions
// err by, and the devices drew less power than that work at the predicted pace would. Slow devices do the one without
// the other: they draw what they draw, for longer.
struct HostBound {
  double tpot = 0, predicted_tpot = 0;  // s
  double watts = 0, predicted_watts = 0;
  // Of the time, in which the devices rested: 1 - predicted / measured TPOT.
  [[nodiscard]] double rested() const { return 1 - predicted_tpot / tpot; }
};

// Nothing where the run is not so, or where TPOT and power were not both observed and predicted.
std::optional<HostBound> bound_by_host(const std::vector<validation::Comparison>& comparisons);
// As a sentence, with what to do about it.
std::string in_words(const HostBound& found);

}  // namespace llmscape::observe
