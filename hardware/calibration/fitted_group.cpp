// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/fitted_group.hpp"

#include <fmt/format.h>

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

std::string summary_of(const FamilyReport& report) {
  std::string text = fmt::format("{}; unseen shapes MAPE {:.1f} %, p95 {:.0f} %", report.data,
                                 100 * report.held_out.mean, 100 * report.held_out.p95);
  std::string known, unknown;
  for (const FittedParameter& p : report.fitted) {
    if (p.identified())
      known += fmt::format("{}{} {:.1f} %", known.empty() ? "" : ", ", p.name, 100 * p.standard_error);
    else unknown += (unknown.empty() ? "" : ", ") + p.name;
  }
  if (!known.empty()) text += "; standard errors " + known;
  if (!unknown.empty()) text += "; not identified, prior used: " + unknown;
  return text;
}

}  // namespace llmscape::hardware
