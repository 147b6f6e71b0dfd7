// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/row_runs.hpp"

namespace llmscape::validation {

// What no kernel table gives and an engine run may: the only constants that are ever fitted to deployments.
struct HostConstants {
  double per_prefill_step_ms = 0;  // host.per_prefill_step of the device
  double per_call_ms = 10;         // serving.front_end
  double per_token_us = 4.5;

  // The same as values laid over a scenario.
  [[nodiscard]] std::vector<std::string> overrides() const;
};

// 2 (sqrt(1 + (r / 0.1)^2) - 1) of the logarithm r of predicted / measured: linear where r is large.
double log_loss(double predicted, double measured);

// The best of a grid, one constant after the other and twice over: the one with the least `loss`.
HostConstants fit_host_constants(const std::function<double(const HostConstants&)>& loss);

// Rows that are alike in `columns` together, dealt out in turn in the order of these values: the even or the odd ones.
std::vector<const MeasuredRow*> half_of(const std::vector<const MeasuredRow*>& rows,
                                        const std::vector<std::string>& columns, bool odd);

// Fitted to the metrics ttft and tpot of these rows: the least sum of log_loss. Rows without a prediction do not count.
HostConstants fit_host_constants(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                 const scenario::Catalogs& catalogs, int jobs);

// Constants of a host as a file says them (schema host_constants/1, docs/rows.md): `set`, paths of a scenario and
// their values, and what is known of them.
struct HostConstantsConfig {
  YamlNode set;
  std::string source;
};
const Fields<HostConstantsConfig>& host_constants_fields();
// As values laid over a scenario; nothing after reporting.
std::optional<std::vector<std::string>> read_host_constants(const std::filesystem::path& file,
                                                            Diagnostics& diagnostics);

}  // namespace llmscape::validation
