// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace llmscape::explore {

// A point of a frontier: one finite number for each objective, all of them better when smaller.
using Losses = std::vector<double>;

// Whether `a` is nowhere worse than `b`, and somewhere better.
bool dominates(std::span<const double> a, std::span<const double> b);

// The points that no other dominates, in the order given; equal points stand together. O(n log n) for two objectives;
// for more, each point is compared with the frontier of those before it in lexicographic order, until one dominates it.
std::vector<std::size_t> non_dominated(const std::vector<Losses>& points);

// Whether `a` is within a relative `epsilon` of `b` in every objective, or better than it.
bool within(std::span<const double> a, std::span<const double> b, double epsilon);

}  // namespace llmscape::explore
