// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "workloads/arrivals/drifting.hpp"

namespace llmscape::workloads {

// Variance (of the population) over mean of the counts in the whole windows of [0, duration], all in seconds; nothing
// below two windows or without an arrival in them. `arrivals` rise.
std::optional<double> fano_of(const std::vector<double>& arrivals, double duration, double window);

// The rate, and up to two drifts whose Fano factors in windows of 0.1 s to an eighth of the duration are nearest to
// those of the arrivals (at least two, within `duration` seconds), seen as from a recording of this duration: there a
// drift hides that is slower. A drift is taken only where it explains more than the scatter of a recording would.
DriftingArrivals fit_drifts(const std::vector<double>& arrivals, double duration);

// The law of the arrivals: periodic where all gaps are equal to the last decimal of the times, else drifting, or with
// gaps by a gamma law where no drift is found and the gaps are more regular than those of one Poisson process in 741:
// calls that wait for each other, as those of one agent. The rate is that of the gaps from the first to the last.
std::shared_ptr<const Arrivals> fit_arrivals(const std::vector<double>& arrivals, double duration);

}  // namespace llmscape::workloads
