// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "sim/metrics/power_series.hpp"
#include "sim/run/assemble.hpp"

namespace llmscape::run {

// Power over time by the name of the group of devices, until `end`: that of the steps of its replicas, and what its
// devices draw whether they work or not.
std::map<std::string, metrics::PowerSeries> power_by_group(const Parts& parts, const serving::Gateway& gateway,
                                                           Seconds end);

// The joules of the run by component and by group, checked against the integral of the power of all devices (INV-6),
// and what they come to for each of the tokens and requests of `counts`. Throws std::logic_error where the sums differ.
EnergyResult energy_of(const Parts& parts, const serving::Gateway& gateway, const RunResult& counts, Seconds end);

}  // namespace llmscape::run
