// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

namespace llmscape::hardware {

// What a device draws at rest, and what it may draw.
struct PowerRange {
  Sourced<Watts> tdp, idle;
  std::optional<Watts> power_limit;  // an operator's cap below the TDP

  [[nodiscard]] Watts limit() const { return power_limit.value_or(*tdp); }
};

// Energy of an operation at a share of the boost clock, as a share of that at the boost clock. Dynamic power is
// f V^2, so an operation takes V^2; the voltage is taken as proportional to the clock down to 0.7 of the boost voltage,
// where it stays (assumed, from memory: server chips run from about 0.7 V to 1 V).
double energy_of_operation(double clock);

// Of the boost clock: the lowest that kernels are priced at (an H100 goes down to 0.17).
inline constexpr double kLowestClock = 0.15;

// The share c of the boost clock at which something takes `most` joules in a time that is as it was measured,
//   active c V^2(c) + work V^2(c) + traffic = most,     V^2 as energy_of_operation(c),
// given its joules at the boost clock, which are more; kLowestClock where they are more there too.
double clock_that_takes(Joules most, Joules active, Joules work, Joules traffic);

template <class T>
void add_power_fields(Fields<T>& fields) {
  fields.add("tdp", &T::tdp, "thermal design power: a step that would draw more runs at a lower clock")
      .required()
      .above(0);
  fields.add("idle_power", &T::idle, "power when idle").required().at_least(0);
  fields.add("power_limit", &T::power_limit, "a cap below tdp that an operator sets; absent: tdp").above(0);
  fields.check([](const T& device, const YamlNode& node, Diagnostics& diagnostics) {
    if (*device.idle >= *device.tdp) diagnostics.error(node.where, "idle_power is not below tdp");
    if (!device.power_limit) return;
    if (*device.power_limit > *device.tdp) diagnostics.error(node.where, "power_limit is above tdp");
    if (*device.power_limit <= *device.idle) diagnostics.error(node.where, "power_limit is not above idle_power");
  });
}

}  // namespace llmscape::hardware
