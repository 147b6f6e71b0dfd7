// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/comparable.hpp"
#include "sim/explore/dominance.hpp"
#include "sim/explore/results.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {

// Successive halving on simulated time: runs of a part of the length that drop what is hopeless.
inline constexpr std::array kRungs = {0.25, 0.5};

// What makes a run shorter: "workload.requests=500". Nothing where its length cannot be said: a trace to its end.
std::optional<std::vector<std::string>> shortened(const scenario::Scenario& scenario, double share);

// A configuration at one rung.
struct Short {
  Losses losses;                                   // empty: it has none
  double violation = 0;                            // of the constraints
  std::vector<std::optional<Estimate>> metrics{};  // done_in all of its runs, one after the other
  std::string rule{};                              // of the window that was asked for
  // One of its runs has no such window, and may have one at full length: its figures are of ramp and drain, too.
  bool fell_back = false;
  Extent over{};  // what its losses were taken over
  bool operator==(const Short&) const = default;
};
// What a run did: its metrics, without how much KV memory there was where half of it was enough; and the most sequences
// that each pool takes at once, where the largest batch is more than half of one of them: a run of all requests may
// reach it.
std::vector<std::optional<Estimate>> done_in(const ResultRow& row, const std::vector<std::int64_t>& most_sequences);
// Which of the last `candidates` of all runs of a rung are hopeless: those that violate the constraints by more than
// all of a limit, those that another run beats by 10 % of their value in every objective (both with figures of the
// window that was asked for: those of ramp and drain say little of how they compare at full length; and over what all
// of `guarded`, the metrics of the objectives that are no figures of their own, are comparable by), and those that do
// exactly what one before them does: all of their metrics are equal, not the objectives alone. The latter differ in
// nothing that matters to these runs, which all have the same seeds.
std::vector<bool> hopeless(const std::vector<Short>& all, std::size_t candidates,
                           const std::vector<const metrics::Column*>& guarded = {});

}  // namespace llmscape::explore
