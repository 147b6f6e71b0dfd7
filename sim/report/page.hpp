// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/explore/objective.hpp"
#include "sim/explore/results.hpp"

namespace llmscape::report {

// What the page of `llmscape report` shows when it is opened; its reader may choose otherwise.
struct PageView {
  struct Limit {
    std::string metric;  // of metrics::columns()
    double bound = 0;
    bool below = true;  // at most the bound, else at least
  };
  std::vector<explore::Objective> objectives;  // the first stands upright, over the second; none: energy over latency
  std::string group;                           // an axis; empty: the hardware, or the first axis of few values
  std::vector<Limit> limits;
  std::string where;  // the condition that the table's rows were chosen by; empty: none
};

// The result of a sweep or of one run as one HTML file that needs nothing else. `tool` is the version that writes it.
// What of points/ cannot be read is reported as a warning and left out.
std::string page(const explore::ResultsTable& table, const PageView& view, const std::string& tool,
                 Diagnostics& diagnostics);

}  // namespace llmscape::report
