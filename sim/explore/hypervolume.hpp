// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sim/explore/dominance.hpp"

namespace llmscape::explore {

// The volume of what the points dominate up to `reference`, exactly: a sweep for two objectives, and for more the sum
// of exclusive volumes (WFG; While, Bradstreet and Barone, IEEE Trans. Evol. Comput. 16, 2012), one objective less at
// each level because points are taken in the order of the last. Points that do not dominate the reference add nothing.
double hypervolume(const std::vector<Losses>& points, std::span<const double> reference);

// What each point of a frontier dominates alone.
std::vector<double> exclusive_hypervolumes(const std::vector<Losses>& frontier, std::span<const double> reference);

// Where a frontier bends: with two objectives the point that lies furthest on the good side of the line between the
// ends, with more the one that dominates most alone, both in objectives scaled to the range of the frontier. Nothing
// where no point lies so.
std::optional<std::size_t> knee(const std::vector<Losses>& frontier);

}  // namespace llmscape::explore
