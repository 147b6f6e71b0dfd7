// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/errors.hpp"

#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {

ErrorSummary summarise(std::span<const double> predicted, std::span<const double> measured) {
  Distribution sizes;
  double sum = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double error = predicted[i] / measured[i] - 1;
    sizes.add(std::abs(error));
    sum += error;
  }
  if (measured.empty()) return {};
  return {measured.size(), sizes.mean(), sizes.quantile(0.5), sizes.quantile(0.95),
          sum / static_cast<double>(measured.size())};
}

std::optional<double> conformal_half_width(std::vector<double> held_out_residuals, double coverage) {
  const double rank = std::ceil(static_cast<double>(held_out_residuals.size() + 1) * coverage);
  if (rank < 1 || rank > static_cast<double>(held_out_residuals.size())) return std::nullopt;
  for (double& r : held_out_residuals) r = std::abs(r);
  const auto place = held_out_residuals.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(held_out_residuals, place);
  return *place;
}

}  // namespace llmscape::hardware
