// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace llmscape::validation {

// What no kernel table gives and an engine run may: the only constants that are ever fitted to deployments.
struct HostConstants {
  double per_prefill_step_ms = 0;  // host.per_prefill_step of the device
  double per_call_ms = 0;          // serving.front_end
  double per_token_us = 0;

  // The same as values laid over a scenario.
  [[nodiscard]] std::vector<std::string> overrides() const;
};

// 2 (sqrt(1 + (r / 0.1)^2) - 1) of the logarithm r of predicted / measured: linear where r is large.
double log_loss(double predicted, double measured);

// Those of the least `loss` that a search finds: from 0 and from what each constant explains alone, steps along one
// constant after the other, each twice as long after one that helped and half as long after two that did not, down to
// 0.25 ms, 0.5 ms and 0.25 us; then up to four simplices from the best of these, of up to 80 runs each, down to the
// same.
HostConstants fit_host_constants(const std::function<double(const HostConstants&)>& loss);

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
