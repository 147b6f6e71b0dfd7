// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/fit/recording.hpp"
#include "workloads/streams/joint_lengths.hpp"

namespace llmscape::workloads {

// The value at a share in [0, 1] of sorted values that are not empty: linear between the two nearest ranks, at
// share x n - 0.5 from 0, so that each value has an equal share of the law (Hazen): at share (n - 1) the first and the
// last have half of one, and the mean of thirty log-normal values with a cv of 1 is 4 % low.
double quantile_of(const std::vector<double>& sorted, double share);

// The shares that a law of sorted values, which are not empty, is written at: 45 to 64, closer above 0.995 the more
// values there are, and at gaps that no value falls into.
std::vector<double> law_shares(const std::vector<double>& sorted);

// Lengths by their quantiles in the recording (which holds at least one call), at the shares of its prompts, answers
// apart for up to ten equal parts of the prompts, of 30 calls at least; heads that are reused where the trace knows
// contents.
JointLengths fit_lengths(const Recording& recording);

}  // namespace llmscape::workloads
