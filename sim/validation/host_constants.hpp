// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/validation/deployments.hpp"

namespace llmscape::validation {

// What no kernel table gives and an engine run may: the only constants that are ever fitted to deployments.
struct HostConstants {
  double per_prefill_step_ms = 0;  // host.per_prefill_step of the device
  double per_call_ms = 10;         // serving.front_end
  double per_token_us = 4.5;

  // The same as values laid over a scenario.
  [[nodiscard]] std::vector<std::string> overrides() const;
};

// Deployments, all their levels of concurrency together, dealt out in turn: the even or the odd ones.
std::vector<Deployment> half_of(const std::vector<Deployment>& deployments, bool odd);

// The best of a grid, one constant after the other and twice over: least sum of 2 (sqrt(1 + (r / 0.1)^2) - 1) over the
// logarithms r of predicted / measured TTFT and TPOT. Rows after a mistake do not count.
HostConstants fit_host_constants(const std::vector<Deployment>& deployments, const scenario::Catalogs& catalogs,
                                 Diagnostics& diagnostics);

}  // namespace llmscape::validation
