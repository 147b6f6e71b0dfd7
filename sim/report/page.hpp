// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/explore/results.hpp"
#include "sim/metrics/names.hpp"

namespace llmscape::report {

// What the page of `llmscape report` shows when it is opened; its reader may choose otherwise.
struct PageView {
  struct Objective {
    std::string name;  // of metrics::columns()
    metrics::Better better = metrics::Better::lower;
  };
  struct Limit {
    std::string name;
    double bound = 0;
    bool below = true;  // at most the bound, else at least
  };
  std::vector<Objective> objectives;  // the first that is maximised stands upright; fewer than two are filled up
  std::string group;                  // an axis by its whole name; empty: the hardware, or the first axis of few values
  std::vector<Limit> limits;
};

// The result of a sweep or of one run as one HTML file that needs nothing else. `tool` is the version that writes it.
// What of points/ cannot be read is reported as a warning and left out.
std::string page(const explore::ResultsTable& table, const PageView& view, const std::string& tool,
                 Diagnostics& diagnostics);

}  // namespace llmscape::report
