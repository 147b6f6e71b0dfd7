// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "sim/result/cost.hpp"
#include "sim/result/parts.hpp"
#include "sim/result/result.hpp"

// What the replicas of a run did, added up in their order.
namespace llmscape::result {

// Throws std::logic_error where they do not add up (INV-5).
Tokens count_tokens(const Parts& parts, const serving::Gateway& gateway);

// KV entries of running requests on the hosts, and what was copied there at preemptions. Nothing where no replica does
// it.
// Of a run of `end`.
std::vector<StoreResult> kv_stores(const Parts& parts, Seconds end);

// Which operators the time of steps went to, and what the figures behind them are worth: time_share, provenance,
// extrapolated, step_tables, bottleneck.
void add_time_shares(const Parts& parts, const std::vector<serving::ReplicaTotals>& totals, RunResult& result);

// By group of devices, by its name.
std::vector<GroupTime> group_times(const Parts& parts, const serving::Gateway& gateway, const Portion& portion);

}  // namespace llmscape::result
