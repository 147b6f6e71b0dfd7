// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/fitted_group.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kFarthest = 5;  // what a device file takes

}  // namespace

Residuals rounded(Residuals residuals) {
  for (auto* quantiles : {&residuals.small, &residuals.medium, &residuals.large})
    for (double& quantile : *quantiles)
      quantile = std::clamp(std::round(quantile * 1000) / 1000, -kFarthest, kFarthest);
  return residuals;
}

Residuals residuals_of(const FamilyReport& report) {
  Residuals residuals;
  for (const RegimeReport& regime : report.regimes) {
    if (regime.name == kRegimeNames[0]) residuals.small = regime.residual_quantiles;
    if (regime.name == kRegimeNames[1]) residuals.medium = regime.residual_quantiles;
    if (regime.name == kRegimeNames[2]) residuals.large = regime.residual_quantiles;
  }
  return residuals;
}

}  // namespace llmscape::hardware
