// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/explore/check.hpp"

namespace llmscape::report {

// One sentence: "3 of 120 metrics are WORSE, at most ttft.p99 of rate=8 /s (+12.3 %); 1 of 10 configurations fails".
std::string check_headline(const explore::Check& check);
// The sentence, configurations that fail as a whole, and the metrics that moved, the worst first; 100 columns.
std::string check_text(const explore::Check& check);
// The same for the summary of a CI job.
std::string check_markdown(const explore::Check& check);
// All that was compared (schema check/1).
std::string check_json(const explore::Check& check);

// A value as people read it, with its unit.
// `currency` is that of amounts of money.
std::string shown_metric(const metrics::Column& column, const std::optional<explore::Estimate>& estimate,
                         const std::string& currency = {});
// Why a metric stands as it does: "45.2 ms -> 51.0 ms, +12.8 %, beyond 1%".
std::string check_reason(const explore::MetricCheck& metric);

}  // namespace llmscape::report
