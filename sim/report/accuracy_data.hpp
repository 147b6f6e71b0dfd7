// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/report/accuracy_page.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::report {

// Where measurements lie.
struct AccuracySources {
  std::filesystem::path data;      // kernels/ and measured/: public tables and runs, not part of the repository
  std::filesystem::path measured;  // traces/measured: records of this project
  scenario::Catalogs catalogs;
};

// What the page is put together from, in its order.
const std::vector<std::string>& accuracy_sections();

// Refits every device that has kernel tables and predicts every measured run: of the sections that are named, or all if
// none is. `about_to` hears what comes next. What is reported is left out of the page.
AccuracyPage measure_accuracy(const AccuracySources& sources, const std::vector<std::string>& sections,
                              const std::function<void(const std::string&)>& about_to, Diagnostics& diagnostics);

}  // namespace llmscape::report
