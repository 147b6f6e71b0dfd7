// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {

// A number of a scenario that a search varies.
struct NumericPath {
  std::string path;  // "hardware.devices[0].count"
  Dimension dimension = Dimension::number;
  bool whole = false;         // takes whole numbers only
  std::string unit;           // values are counted in it: "/s", "MHz"; empty for plain numbers
  std::optional<double> own;  // the scenario's value in that unit; nothing where it says none

  // As a scenario writes it: "12 /s".
  [[nodiscard]] std::string written(double value) const;
};

// Finds the number by its path in a resolved scenario; `source` is what messages call the path: "--max". Nothing after
// reporting a path that leads nowhere, or to something else than one number.
std::optional<NumericPath> find_numeric_path(const scenario::Scenario& scenario, const std::string& path,
                                             const std::string& source, Diagnostics& diagnostics);

struct Ends {
  double low = 0, high = 0;
};
// Reads "1 /s,64 /s", both above 0, in the unit of the number; one that has none takes theirs. Nothing after reporting.
std::optional<Ends> read_ends(NumericPath& number, const std::string& text, const std::string& source,
                              Diagnostics& diagnostics);

}  // namespace llmscape::explore
