// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sim/explore/dominance.hpp"

namespace llmscape::explore {

// The volume of what the points dominate up to `reference`, exactly, by pagmo 2 (Biscani and Izzo, JOSS 5(53), 2020): a
// sweep for two and three objectives, WFG (While, Bradstreet and Barone, IEEE Trans. Evol. Comput. 16, 2012) for more.
// Points that do not dominate the reference in every objective add nothing.
double hypervolume(const std::vector<Losses>& points, std::span<const double> reference);

// What each point dominates alone, in their order: 0 for a point that is dominated, stands
// twice, or lies beyond the reference.
std::vector<double> exclusive_hypervolumes(const std::vector<Losses>& frontier, std::span<const double> reference);

// Where a frontier bends: with two objectives the point that lies furthest on the good side of the line between the
// ends, with more the one that dominates most alone, both in objectives scaled to the range of the frontier. Nothing
// where no point lies so, and with one objective.
std::optional<std::size_t> knee(const std::vector<Losses>& frontier);

}  // namespace llmscape::explore
