// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "sim/metrics/power_series.hpp"
#include "sim/result/parts.hpp"
#include "sim/result/portion.hpp"
#include "sim/result/result.hpp"

namespace llmscape::result {

// Power over time by the name of the group of devices, until `end`: that of the steps of its replicas, and what its
// devices draw whether they work or not.
std::map<std::string, metrics::PowerSeries> power_by_group(const Parts& parts, const serving::Gateway& gateway,
                                                           Seconds end);

// The power of everything over the whole run, hosts of retrieval by their mean.
metrics::PowerSeries power_of(const Parts& parts, const serving::Gateway& gateway, const Portion& whole);

// The joules of a part of the run by component and by group, and what they come to for each of so many tokens, of those
// in answered calls alone, and of requests. `power` is power_of().
EnergyResult energy_of(const Parts& parts, const serving::Gateway& gateway, const Portion& portion,
                       const metrics::PowerSeries& power, double tokens, double answered, double requests);
// Throws std::logic_error where the joules of the whole run are not the integral of its power (INV-6).
void check_energy(const Parts& parts, const serving::Gateway& gateway, const Portion& whole,
                  const metrics::PowerSeries& power);

}  // namespace llmscape::result
