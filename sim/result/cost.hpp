// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"

namespace llmscape::result {

struct CostResult;
struct EnergyResult;

// The user's own prices: llmscape knows none. Amounts of money are plain numbers in one currency.
struct DevicePrice {
  std::optional<double> capital;    // of one device
  std::optional<Seconds> lifetime;  // over which the capital is written off
  std::optional<PerSecond> hourly;  // rent of one device, for the time that it is switched on
};

struct CostConfig {
  std::optional<std::string> currency;         // its name, for people
  std::map<std::string, DevicePrice> devices;  // by the name of the group
  std::optional<PerJoule> electricity;
  double pue = 1;  // energy of the site / energy of the devices
  std::optional<GramsPerJoule> carbon;
};
const Fields<CostConfig>& cost_fields();

// Reports prices of groups that there are not, but for those of a file of prices. `root` is the scenario's tree.
void check_cost(const CostConfig& cost, const std::vector<std::string>& groups, const YamlNode& root,
                Diagnostics& diagnostics);

// What a group of devices was there for.
struct GroupTime {
  std::string group;
  std::int64_t devices = 0;
  Seconds owned;        // summed over devices: the length of the window
  Seconds provisioned;  // of it, switched on
};

// What a part of the run cost, as far as prices are known: rent of devices for the time that they are on, capital
// written off over all of it, electricity and carbon of all joules times the PUE. `emitted` tokens are those of all
// calls, `answered` ones those of completed calls.
CostResult cost_of(const CostConfig& cost, const std::vector<GroupTime>& groups, const EnergyResult& energy,
                   double emitted, double answered);

}  // namespace llmscape::result
