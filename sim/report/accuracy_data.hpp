// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>

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

// Refits every device that has kernel tables and predicts every measured run. `about_to` hears what comes next. What is
// reported is left out of the page.
AccuracyPage measure_accuracy(const AccuracySources& sources, const std::function<void(const std::string&)>& about_to,
                              Diagnostics& diagnostics);

}  // namespace llmscape::report
