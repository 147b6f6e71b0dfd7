// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/accuracy_page.hpp"

// Parts of the page, in Markdown.
namespace llmscape::report {

// "+1.2 %"; "-" for none.
std::string signed_percent(std::optional<double> share);

// What a buyer reads: the whole page in one table, and the published errors of other simulators beside it.
std::string accuracy_overview(const AccuracyPage& page);
// Kernels of a pair of chips together: rows, median and 90th percentile of the errors, the share that intervals hold.
struct CarriedTotal {
  std::size_t rows = 0;
  double median = 0, p90 = 0, held = 0;
};
CarriedTotal total_of(const CarriedAccuracy& pair);
// How well a chip's kernels are predicted that was never measured.
std::string carried_section(const std::vector<CarriedAccuracy>& pairs);
// Watts and joules of a token, by what the prediction was given and by model.
std::string energy_section(const EnergyAccuracy& energy);

}  // namespace llmscape::report
