// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/correction.hpp"
#include "hardware/residuals.hpp"

#include <utility>

namespace llmscape::hardware {

// The quantiles of the regimes that had enough rows.
Residuals residuals_of(const FamilyReport& report);
// To three decimals: a tenth of a percent of a time, finer than few rows can tell.
Residuals rounded(Residuals residuals);

// Fitted parameters as a device file holds them: figures to four digits, finer than any fit is exact, those of a
// correction to six.
template <class Parameters>
YamlNode fitted_group(const Fields<Parameters>& fields, Parameters parameters) {
  parameters.residuals = rounded(std::move(parameters.residuals));
  YamlNode group = fields.write(parameters, 4);
  if constexpr (requires { static_cast<std::optional<Correction>&>(parameters.correction); })
    if (parameters.correction) group.set("correction", correction_fields().write(*parameters.correction, 6));
  if constexpr (requires { parameters.ungrouped_correction; })
    if (parameters.ungrouped_correction)
      group.set("ungrouped_correction", correction_fields().write(*parameters.ungrouped_correction, 6));
  return group;
}

// Held-out error and what the parameters are worth, for the file.
std::string summary_of(const FamilyReport& report);

}  // namespace llmscape::hardware
